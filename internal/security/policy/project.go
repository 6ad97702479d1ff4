package policy

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// baseRef returns the ref to read a project's configuration from: the named one or,
// in a CI job for a proposed change, its target branch, because the author of a
// change must not configure the pawl that reviews it. "" means the directory itself.
func baseRef(named string) string {
	if named != "" {
		return named
	}
	if os.Getenv("CI") != "true" {
		return ""
	}
	for _, name := range []string{"GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"} {
		if ref := os.Getenv(name); ref != "" {
			return ref
		}
	}
	return ""
}

// Base returns the full name of the target branch of a CI job's proposed change, or
// "" if none exists.
func Base() string {
	if ref := baseRef(""); ref != "" {
		return onOrigin(ref)
	}
	return ""
}

// onOrigin turns a branch name into that of the remote origin. Full ref names and
// commit ids stay.
func onOrigin(ref string) string {
	if strings.HasPrefix(ref, "refs/") || len(ref) >= 40 && strings.Trim(ref, "0123456789abcdef") == "" {
		return ref
	}
	return "refs/remotes/origin/" + ref
}

// projectSource returns a function that reads the files of a project
// configuration: from the directory or, if ref is not "", only from that commit. A
// branch name means the branch of the remote origin, because a local branch or tag
// of that name can be the proposed change itself.
func projectSource(ctx context.Context, dir, ref string) (func(name string) ([]byte, error), error) {
	if ref == "" {
		return func(name string) ([]byte, error) { return readBelow(dir, name) }, nil
	}
	if err := git.CheckRef(ref); err != nil {
		return nil, err
	}
	repo, err := openRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	prefix, err := filepath.Rel(repo.Top, real)
	if err != nil {
		return nil, err
	}
	ref = onOrigin(ref)
	commit, err := repo.Commit(ctx, ref)
	if err != nil {
		// Not pawl.ErrNotFound, which means a project without a configuration.
		return nil, fault.New(pawl.ErrInvalid, "read the project configuration from %s: %s", ref, err.Error()).Hint("Fetch it first, for example with `git fetch origin`.")
	}
	return func(name string) ([]byte, error) {
		return repo.Show(ctx, commit, path.Join(filepath.ToSlash(prefix), name))
	}, nil
}

// readBelow reads a file of a directory. No part of its path may be a link. A
// directory in its place counts as no file: while a command runs, its sandbox puts
// placeholders where it must not create files.
func readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	part := ""
	for word := range strings.SplitSeq(name, "/") {
		part = path.Join(part, word)
		info, err := root.Lstat(part)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fault.New(pawl.ErrDenied, "%s is a symbolic link", part)
		}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: %w", name, fs.ErrNotExist)
	case !info.Mode().IsRegular():
		return nil, fault.New(pawl.ErrDenied, "%s is not a regular file", name)
	}
	return io.ReadAll(io.LimitReader(f, git.MaxShow))
}
