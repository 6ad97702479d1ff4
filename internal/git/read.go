package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Head returns the id of the checked-out commit, or pawl.ErrNotFound before the
// first commit.
func (r *Repo) Head(ctx context.Context) (string, error) { return r.Commit(ctx, "HEAD") }

// ancestors matches the end of a revision that names an ancestor, such as HEAD~2 or main^.
var ancestors = regexp.MustCompile(`([~^][0-9]{0,6})+$`)

// Commit returns the id of the commit that ref points to, or of an ancestor of it, such as HEAD~2; or
// pawl.ErrNotFound.
func (r *Repo) Commit(ctx context.Context, ref string) (string, error) {
	if err := CheckRef(ancestors.ReplaceAllString(ref, "")); err != nil {
		return "", err
	}
	out, err := r.run(ctx, Call{Args: []string{"rev-parse", "--verify", "--quiet"}, Refs: []string{ref + "^{commit}"}, Limit: 1 << 10})
	var failed *Failed
	if errors.As(err, &failed) {
		return "", fault.New(pawl.ErrNotFound, "commit %q not found in %s", ref, r.Top)
	}
	return strings.TrimSpace(string(out)), err
}

// Branch returns the checked-out branch, or "" if HEAD is detached. It is untrusted
// text.
func (r *Repo) Branch(ctx context.Context) (string, error) {
	out, err := r.run(ctx, Call{Args: []string{"symbolic-ref", "--quiet", "HEAD"}, Limit: maxLine})
	var failed *Failed
	if errors.As(err, &failed) && failed.Code == 1 {
		return "", nil
	}
	return strings.TrimPrefix(strings.TrimSuffix(string(out), "\n"), "refs/heads/"), err
}

// Status describes how a worktree differs from its commit.
type Status struct {
	Head   string // "" before the first commit
	Branch string // "" if HEAD is detached
	Files  []File
}

// File is a file that differs. Its paths are untrusted text.
type File struct {
	State string // two letters as in git status, for the index and the worktree
	Path  string
	From  string // the previous path of a renamed or copied file
}

// Status returns how the worktree differs from its commit. It does not look into
// submodules.
func (r *Repo) Status(ctx context.Context) (Status, error) {
	out, err := r.run(ctx, Call{Args: []string{"status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal", "--no-ahead-behind"}})
	if err != nil {
		return Status{}, err
	}
	s, err := readStatus(string(out))
	if err != nil {
		return Status{}, fmt.Errorf("git status: %w", err)
	}
	return s, nil
}

// readStatus parses the output of git status --porcelain=v2 -z.
func readStatus(text string) (Status, error) {
	var s Status
	entries := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	for i := 0; i < len(entries); i++ {
		kind, rest, _ := strings.Cut(entries[i], " ")
		fields := map[string]int{"1": 8, "2": 9, "u": 10, "?": 1}[kind]
		switch {
		case kind == "" && rest == "":
		case kind == "#":
			switch key, value, _ := strings.Cut(rest, " "); {
			case key == "branch.oid" && value != "(initial)":
				s.Head = value
			case key == "branch.head" && value != "(detached)":
				s.Branch = value
			}
		case kind == "?":
			s.Files = append(s.Files, File{State: "??", Path: rest})
		case fields == 0:
			return s, fault.New(pawl.ErrInvalid, "unknown entry type %q", kind)
		default:
			parts := strings.SplitN(rest, " ", fields)
			if len(parts) < fields || kind == "2" && i+1 == len(entries) {
				return s, fault.New(pawl.ErrInvalid, "the output is truncated")
			}
			f := File{State: parts[0], Path: parts[fields-1]}
			if kind == "2" {
				i++
				f.From = entries[i]
			}
			s.Files = append(s.Files, f)
		}
	}
	return s, nil
}

// MaxShow is the maximum size of a file that Show returns, in bytes.
const MaxShow = 4 << 20

// Show returns the content of a file in a commit, as it is stored and without
// filters. It returns pawl.ErrNotFound if the file does not exist, and
// pawl.ErrInvalid if it is not a regular file.
func (r *Repo) Show(ctx context.Context, ref, name string) ([]byte, error) {
	if name != path.Clean(name) || path.IsAbs(name) || name == "." || strings.HasPrefix(name, "../") || strings.ContainsRune(name, 0) {
		return nil, fault.New(pawl.ErrInvalid, "%q is not a valid path in a repository", name)
	}
	commit, err := r.Commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, Call{Args: []string{"ls-tree", "-z", "-l", "--full-tree"}, Refs: []string{commit}, Paths: []string{name}, Limit: 64 << 10})
	if err != nil {
		return nil, err
	}
	entry, found, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	fields := strings.Fields(entry) // mode, type, id, size
	switch {
	case len(fields) == 0:
		return nil, fault.New(pawl.ErrNotFound, "%s does not contain %q", commit, name)
	case found != name || len(fields) != 4 || fields[1] != "blob" || !strings.HasPrefix(fields[0], "100"):
		return nil, fault.New(pawl.ErrInvalid, "%q is not a regular file in %s", name, commit)
	}
	if size, err := strconv.Atoi(fields[3]); err != nil || size > MaxShow {
		return nil, fault.New(pawl.ErrInvalid, "%q is larger than %d bytes in %s", name, MaxShow, commit)
	}
	return r.run(ctx, Call{Args: []string{"cat-file", "blob"}, Refs: fields[2:3], Limit: MaxShow})
}

// Diff returns the changes of the worktree since ref, or since the index if ref is
// "", as a unified diff. For binary files it has only the names.
func (r *Repo) Diff(ctx context.Context, ref string, paths ...string) ([]byte, error) {
	c := Call{Args: []string{"diff", "--src-prefix=a/", "--dst-prefix=b/"}, Paths: paths}
	if ref != "" {
		c.Refs = []string{ref}
	}
	return r.Run(ctx, c)
}
