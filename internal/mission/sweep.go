package mission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// Needed reports whether a worktree is still needed: its session exists, and its mission is not sealed. It is
// needed if that cannot be determined, and also if it is younger than a day, because its session may be about
// to be created.
func Needed(ctx context.Context, get func(context.Context, pawl.SessionID) (pawl.Session, error), dir string) bool {
	if info, err := os.Lstat(dir); err != nil || time.Since(info.ModTime()) < minAge {
		return true
	}
	name := filepath.Base(dir)
	worker, err := get(ctx, pawl.SessionID(strings.ToUpper(name)))
	if err == nil && worker.Parent != "" { // otherwise it is the base commit of a mission
		worker, err = get(ctx, worker.Parent)
	}
	if errors.Is(err, pawl.ErrNotFound) {
		return false
	}
	return err != nil || worker.Mission != pawl.MissionSealed
}

// minAge is the age up to which a worktree is always kept.
const minAge = 24 * time.Hour

// Sweep removes the worktrees under top, of all repositories, that are not needed, and the leftovers of killed
// processes. It returns the removed directories; with dry, those that it would remove.
func Sweep(ctx context.Context, top string, needed func(dir string) bool, dry bool) (removed []string, err error) {
	repositories, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep worktrees: %w", err)
	}
	for _, r := range repositories {
		if !r.IsDir() {
			continue
		}
		t := &worktree.Trees{Dir: filepath.Join(top, r.Name())}
		names, sweepErr := sweep(ctx, t, needed, dry)
		for _, name := range names {
			removed = append(removed, t.Path(name))
		}
		err = errors.Join(err, sweepErr)
	}
	return removed, err
}

func sweep(ctx context.Context, t *worktree.Trees, needed func(dir string) bool, dry bool) ([]string, error) {
	if !dry {
		return t.Sweep(ctx, func(name string) bool { return needed(t.Path(name)) })
	}
	entries, err := os.ReadDir(t.Dir)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !needed(t.Path(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
