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
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxLine bounds the one-line files in which git stores the path of another
// directory, in bytes.
const maxLine = 4 << 10

// Repo is a repository with a worktree. Its paths are real: absolute and without
// symbolic links.
type Repo struct {
	Top    string // the top directory of the worktree
	Dir    string // git's directory for this worktree
	Common string // git's directory of the repository; equals Dir except in a linked worktree
	Linked bool   // a linked worktree that the repository lists

	git *Git
}

// Open finds the repository that contains dir. It searches for .git in dir and its
// parents itself, because git would also accept a bare repository there and follow
// core.worktree. It returns pawl.ErrNotFound if no repository is found, and
// pawl.ErrDenied if the repository is not safe to use.
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
				return nil, fault.New(pawl.ErrDenied, "the git executable %s is inside %s", g.bin, r.Top)
			}
			return r, nil
		}
		if top == filepath.Dir(top) {
			return nil, fault.New(pawl.ErrNotFound, "%s is not a git repository", dir).Hint("Create one with `git init`, or change to the directory of one.")
		}
	}
}

// at returns the repository whose worktree starts at top, or nil if top has no
// repository.
func (g *Git) at(ctx context.Context, top string) (*Repo, error) {
	dotgit := filepath.Join(top, ".git")
	info, err := os.Lstat(dotgit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no repository here
	}
	if err != nil {
		return nil, err
	}
	r := &Repo{Top: top, Dir: dotgit, Common: dotgit, git: g}
	switch {
	case info.IsDir():
		if !isRepository(dotgit) {
			return nil, nil //nolint:nilnil // git ignores it too
		}
		if _, err := os.Lstat(filepath.Join(dotgit, "commondir")); err == nil {
			return nil, fault.New(pawl.ErrDenied, "%s refers to another repository in its file commondir", dotgit)
		}
	case info.Mode().IsRegular():
		if err := r.follow(ctx, dotgit); err != nil {
			return nil, err
		}
	default:
		return nil, fault.New(pawl.ErrDenied, "%s is neither a directory nor a file", dotgit)
	}
	for _, path := range []string{r.Top, dotgit, r.Dir, r.Common} {
		if err := owned(path); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// follow resolves a .git file. Any .git file can point to any repository, and would
// use its configuration and inherit its trust. So the repository must point back to
// this worktree.
func (r *Repo) follow(ctx context.Context, dotgit string) error {
	target, ok := strings.CutPrefix(line(dotgit), "gitdir: ")
	if !ok {
		return fault.New(pawl.ErrDenied, "%s does not name a repository", dotgit)
	}
	dir := resolved(from(r.Top, target))
	if dir == "" || !isFolder(dir) {
		return fault.New(pawl.ErrDenied, "%s points to %q, which does not exist", dotgit, target)
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
	return fault.New(pawl.ErrDenied, "%s points to %s, which does not list this worktree", dotgit, dir).Hint("If it was moved, run `git worktree repair` there.")
}

// worktreeOf returns the real path of core.worktree in the repository's
// configuration, or "".
func (g *Git) worktreeOf(ctx context.Context, dir string) string {
	args := []string{"config", "--file", filepath.Join(dir, "config"), "--no-includes", "--get", "core.worktree"}
	out, err := g.exec(ctx, "/", g.environment(nil, nil), args, maxLine)
	if err != nil {
		return ""
	}
	return resolved(from(dir, strings.TrimSuffix(string(out), "\n")))
}

// owned returns an error for a file of another user, who could change it at any
// time.
func owned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fault.New(pawl.ErrDenied, "%s belongs to another user (%d), so git does not run there", path, s.Uid).Hint("If it is yours, change its owner with `chown`.")
	}
	return nil
}

// isRepository reports whether dir looks like a git directory.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// from returns path as an absolute path; if it is relative, it is relative to dir.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// line returns the content of a one-line file, or "" if it cannot be read. It does
// not follow symbolic links or block on a named pipe.
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
