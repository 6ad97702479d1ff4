package policy

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

const (
	maxAllotment = 64 << 10 // bytes of what Allot has written
	maxLenders   = 64       // directories of objects that a repository has, its own and those it borrows
)

// Allotment lists what the worktrees of a repository may read and must not see. It
// is stored beside them, where no worker can write: what a worktree says of itself
// is not trusted.
type Allotment struct {
	Objects []string `json:"objects"` // directories of objects, the repository's own and those it borrows; none if worktrees are whole
	Apart   []string `json:"apart"`   // the repository and its worktree, which are hidden
}

// Allot lets the worktrees of a repository borrow its git objects, and returns the
// directory to create them in. Call it before creating worktrees, and before
// sessions continue in them: the alternates of the repository may have changed.
func (s *Safety) Allot(repo *git.Repo) (dir string, err error) {
	top, err := config.Worktrees()
	if err != nil {
		return "", fmt.Errorf("allot a worktree: %w", err)
	}
	a := Allotment{Objects: []string{}}
	if !s.Whole {
		if a.Objects, err = objectsOf(filepath.Join(repo.Common, "objects")); err != nil {
			return "", fmt.Errorf("allot a worktree: %w", err)
		}
	}
	for _, path := range []string{repo.Top, repo.Common} {
		if !holds(path, s.home) {
			a.Apart = append(a.Apart, path)
		}
	}
	if err := os.MkdirAll(top, 0o700); err != nil {
		return "", fmt.Errorf("allot a worktree: %w", err)
	}
	if err := a.check(top); err != nil {
		return "", fmt.Errorf("allot a worktree: %w", err)
	}
	sum := sha256.Sum256([]byte(repo.Common))
	dir = filepath.Join(top, hex.EncodeToString(sum[:8]))
	if err := userfile.Replace(dir+".json", a, maxAllotment); err != nil {
		return "", fmt.Errorf("allot a worktree: %w", err)
	}
	return dir, nil
}

// check rejects objects in pawl's data directory: a repository could borrow them
// from another worker.
func (a Allotment) check(top string) error {
	data, err := filepath.EvalSymlinks(filepath.Dir(top))
	if err != nil {
		return err
	}
	for _, path := range a.Objects {
		if holds(data, path) || holds(path, data) {
			return fault.New(pawl.ErrDenied, "the repository borrows objects from %s, a directory of Pawl", path).Hint("Remove the entry from .git/objects/info/alternates.")
		}
	}
	return nil
}

// objectsOf returns a directory of git objects and, transitively, its alternates.
func objectsOf(dir string) ([]string, error) {
	var all []string
	for queue := []string{dir}; len(queue) > 0; queue = queue[1:] {
		real, err := filepath.EvalSymlinks(queue[0])
		if errors.Is(err, fs.ErrNotExist) && len(all) > 0 {
			continue // git passes over it too
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, real) {
			continue
		}
		if all = append(all, real); len(all) > maxLenders {
			return nil, fault.New(pawl.ErrInvalid, "%s borrows objects from more than %d directories", dir, maxLenders).Hint("Run `git repack -ad` there, and delete objects/info/alternates.")
		}
		more, err := lenders(real)
		if err != nil {
			return nil, err
		}
		queue = append(queue, more...)
	}
	return all, nil
}

// lenders reads the alternates of a directory of git objects.
func lenders(dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		path := lines.Text()
		if path == "" || path[0] == '#' {
			continue
		}
		if path[0] == '"' {
			return nil, fault.New(pawl.ErrInvalid, "%s contains a quoted path, which Pawl does not support: remove the quotes", f.Name())
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		all = append(all, path)
	}
	return all, lines.Err()
}

// holds reports whether a path is a directory or below it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
