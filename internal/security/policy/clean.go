package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// Cleaning selects the directories of sandboxes to remove.
type Cleaning struct {
	Alive  func(pawl.SessionID) bool // the temporary files and caches of other sessions are removed
	Before time.Time                 // what was last used before this is removed too
	DryRun bool                      // nothing is removed
}

// Cleaned reports what was removed, or would be.
type Cleaned struct {
	Sessions int   `json:"sessions"` // whose temporary files were removed
	Folders  int   `json:"projects"` // sessions and workspaces whose caches were removed
	Before   int64 `json:"before"`   // total bytes before
	After    int64 `json:"after"`
}

// Clean removes what sandboxes have left in pawl's cache directory.
func Clean(c Cleaning) (Cleaned, error) {
	cache, err := config.Cache()
	if err != nil {
		return Cleaned{}, err
	}
	f := privateDirs{cache}
	var done Cleaned
	err = f.each("tmp", func(name string, size int64, used time.Time) {
		id := pawl.SessionID(name)
		done.Before += size
		if !id.Valid() || c.Alive(id) && !used.Before(c.Before) {
			done.After += size
			return
		}
		done.Sessions++
		if !c.DryRun {
			tree.RemoveAll(filepath.Join(f.cache, "tmp", name))
		}
	})
	if err != nil {
		return done, fmt.Errorf("clean up temporary files: %w", err)
	}
	err = f.each("box", func(name string, size int64, used time.Time) {
		done.Before += size
		id := pawl.SessionID(name)
		if !used.Before(c.Before) && (!id.Valid() || c.Alive(id)) {
			done.After += size
			return
		}
		done.Folders++
		if !c.DryRun {
			tree.RemoveAll(filepath.Join(f.cache, "box", name))
		}
	})
	if err != nil {
		return done, fmt.Errorf("clean up caches: %w", err)
	}
	return done, nil
}

// each calls do for each subdirectory of one kind, with its size in bytes and the
// time of the last change in it.
func (f privateDirs) each(kind string, do func(name string, size int64, used time.Time)) error {
	entries, err := os.ReadDir(filepath.Join(f.cache, kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		var size int64
		var used time.Time
		_ = filepath.WalkDir(filepath.Join(f.cache, kind, e.Name()), func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it counts for what can be seen of it
			}
			if info, err := d.Info(); err == nil {
				size += info.Size()
				if info.ModTime().After(used) {
					used = info.ModTime()
				}
			}
			return nil
		})
		do(e.Name(), size, used)
	}
	return nil
}
