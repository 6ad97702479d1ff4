package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
)

// maxLine bounds the files that lead from one directory of a repository to another.
const maxLine = 4 << 10

// Repo is a repository with a worktree. Its paths are real.
type Repo struct {
	Top    string // of the worktree
	Dir    string // git's directory for this worktree
	Common string // git's directory of the repository; Dir, but in a linked worktree
	Linked bool   // a linked worktree, which the repository names as its own

	git *Git
}

// Open finds the repository that a directory is in. It looks for .git in the directory
// and those above it, itself: git would take a bare repository in the directory for
// one too, and believe what core.worktree says. If none exists it returns
// pawl.ErrNotFound; if there is one that must not be believed, pawl.ErrDenied.
func (g *Git) Open(ctx context.Context, dir string) (*Repo, error) {
	top, err := realPath(dir)
	if err != nil {
		return nil, fmt.Errorf("find repository: %w", err)
	}
	for ; ; top = filepath.Dir(top) {
		r, err := g.at(ctx, top)
		if err != nil {
			return nil, fmt.Errorf("find repository: %w", err)
		}
		if r != nil {
			if within(g.bin, r.Top) {
				return nil, fmt.Errorf("find repository: git itself, %s, is inside of %s: %w", g.bin, r.Top, pawl.ErrDenied)
			}
			return r, nil
		}
		if top == filepath.Dir(top) {
			return nil, fmt.Errorf("find repository: %s is in none: %w", dir, pawl.ErrNotFound)
		}
	}
}

// at returns the repository whose worktree begins at a directory, or nil.
func (g *Git) at(ctx context.Context, top string) (*Repo, error) {
	dotgit := filepath.Join(top, ".git")
	info, err := os.Lstat(dotgit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none exists, and that is fine
	}
	if err != nil {
		return nil, err
	}
	r := &Repo{Top: top, Dir: dotgit, Common: dotgit, git: g}
	switch {
	case info.IsDir():
		if !isRepository(dotgit) {
			return nil, nil //nolint:nilnil // git passes over it too
		}
		if _, err := os.Lstat(filepath.Join(dotgit, "commondir")); err == nil {
			return nil, fmt.Errorf("%s leads to another repository by a file commondir: %w", dotgit, pawl.ErrDenied)
		}
	case info.Mode().IsRegular():
		if err := r.follow(ctx, dotgit); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s is neither a folder nor a file: %w", dotgit, pawl.ErrDenied)
	}
	for _, path := range []string{r.Top, dotgit, r.Dir, r.Common} {
		if err := owned(path); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// follow goes where a file .git points to. Any file can point to any repository,
// and would come by its configuration and by the trust that it has: so that
// repository must point back.
func (r *Repo) follow(ctx context.Context, dotgit string) error {
	target, ok := strings.CutPrefix(line(dotgit), "gitdir: ")
	if !ok {
		return fmt.Errorf("%s does not say where the repository is: %w", dotgit, pawl.ErrDenied)
	}
	dir := resolved(from(r.Top, target))
	if dir == "" || !isFolder(dir) {
		return fmt.Errorf("%s points to %q, which is not there: %w", dotgit, target, pawl.ErrDenied)
	}
	r.Dir, r.Common = dir, dir
	if common := line(filepath.Join(dir, "commondir")); common != "" {
		r.Linked, r.Common = true, resolved(from(dir, common))
		back := from(dir, line(filepath.Join(dir, "gitdir")))
		if filepath.Dir(dir) == filepath.Join(r.Common, "worktrees") && filepath.Base(back) == ".git" && resolved(filepath.Dir(back)) == r.Top && isRepository(r.Common) {
			return nil
		}
	} else if isRepository(dir) && r.git.worktreeOf(ctx, dir) == r.Top { // a submodule
		return nil
	}
	return fmt.Errorf("%s points to %s, which does not know this folder: if it was moved, run 'git worktree repair' there: %w", dotgit, dir, pawl.ErrDenied)
}

// worktreeOf returns the real path that a repository's own configuration names
// as its worktree, or "".
func (g *Git) worktreeOf(ctx context.Context, dir string) string {
	args := []string{"config", "--file", filepath.Join(dir, "config"), "--no-includes", "--get", "core.worktree"}
	out, err := g.exec(ctx, "/", g.environment(nil, nil), args, maxLine)
	if err != nil {
		return ""
	}
	return resolved(from(dir, strings.TrimSuffix(string(out), "\n")))
}

// owned refuses what belongs to somebody else: they could change it at any time.
func owned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d): git is not run there; 'chown' it if it is yours: %w", path, s.Uid, pawl.ErrDenied)
	}
	return nil
}

// isRepository reports whether a directory looks like git's.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// from makes a path absolute, as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// line returns what a file of one line says, or "". It waits for nobody and
// follows no link.
func line(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLine {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}
