//go:build fleet

package main

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

// warm keeps the repositories that workspaces have begun as, so that the next one
// needs to fetch only what is new. Tenants do not share them.
type warm struct {
	dir     string
	sources *sources

	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

func (w *warm) lock(name string) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locks == nil {
		w.locks = map[string]*sync.Mutex{}
	}
	if w.locks[name] == nil {
		w.locks[name] = &sync.Mutex{}
	}
	w.locks[name].Lock()
	return w.locks[name].Unlock
}

// fetch makes a directory of a repository: its newest commit, or what stands behind a
// #. It is made aside, so that a directory that is there is whole.
func (w *warm) fetch(ctx context.Context, source, dir string) error {
	from, err := w.sources.find(ctx, source)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(string(store.TenantOf(ctx)) + "\x00" + from.Address))
	kept := filepath.Join(w.dir, hex.EncodeToString(sum[:16]))
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	g, err := git.Find(ctx, filepath.Dir(dir))
	if err != nil {
		return err
	}
	commit, err := w.refresh(ctx, g, from, kept)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", source, err)
	}
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := g.Clone(ctx, git.Remote{Address: "file://" + kept, Ref: commit, Local: true}, fresh); err != nil {
		return fmt.Errorf("fetch %s: %w", source, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(fresh, dir)
}

// refresh brings what is kept of a repository up to date, and returns the commit.
func (w *warm) refresh(ctx context.Context, g *git.Git, from git.Remote, kept string) (string, error) {
	defer w.lock(kept)()
	return g.Mirror(ctx, from, kept)
}
