package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/store"
)

// sourceCache keeps a mirror of each repository that workspaces start from, so that
// the next workspace fetches only new commits. Tenants do not share mirrors.
type sourceCache struct {
	dir     string
	sources *sources

	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

func (c *sourceCache) lock(name string) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks == nil {
		c.locks = map[string]*sync.Mutex{}
	}
	if c.locks[name] == nil {
		c.locks[name] = &sync.Mutex{}
	}
	c.locks[name].Lock()
	return c.locks[name].Unlock
}

// fetch makes dir a clone of a source: its newest commit, or the ref after the #. It
// clones into another directory and renames that, so dir is never incomplete.
func (c *sourceCache) fetch(ctx context.Context, source, dir string) error {
	from, err := c.sources.find(ctx, source)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(string(store.TenantOf(ctx)) + "\x00" + from.Address))
	mirror := filepath.Join(c.dir, hex.EncodeToString(sum[:16]))
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	g, err := git.Find(ctx, filepath.Dir(dir))
	if err != nil {
		return err
	}
	commit, err := c.refresh(ctx, g, from, mirror)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", source, err)
	}
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := g.Clone(ctx, git.Remote{Address: "file://" + mirror, Ref: commit, Local: true}, fresh); err != nil {
		return fmt.Errorf("fetch %s: %w", source, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(fresh, dir)
}

// refresh fetches a repository into its mirror and returns the commit of the ref.
func (c *sourceCache) refresh(ctx context.Context, g *git.Git, from git.Remote, mirror string) (string, error) {
	defer c.lock(mirror)()
	return g.Mirror(ctx, from, mirror)
}
