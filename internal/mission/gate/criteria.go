package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/discover"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// NewCriteria completes the criteria f: it resolves the base commit, finds the checks (those given, or else the
// project's own at the base), and resolves and hashes their programs.
func NewCriteria(ctx context.Context, repo *git.Repo, base string, checks []pawl.Check, f pawl.Criteria) (pawl.Criteria, error) {
	var err error
	if f.Base, err = repo.Commit(ctx, base); err != nil {
		return f, err
	}
	if len(checks) == 0 {
		found, err := Discover(ctx, repo, f.Base)
		if err != nil {
			return f, err
		}
		for _, c := range found {
			checks = append(checks, c.Check)
		}
	}
	f.Tools = map[string]string{}
	for _, c := range checks {
		if c, err = findProgram(f, c, repo.Top); err != nil {
			return f, err
		}
		f.Checks = append(f.Checks, c)
	}
	return f, nil
}

// findProgram returns the check with the absolute path of its program.
func findProgram(f pawl.Criteria, c pawl.Check, top string) (pawl.Check, error) {
	if c.ID == "" || len(c.Args) == 0 || slices.ContainsFunc(f.Checks, func(o pawl.Check) bool { return o.ID == c.ID }) {
		return c, fault.New(pawl.ErrInvalid, "check %q needs a unique id and a command", c.ID)
	}
	if c.Dir != "" && !filepath.IsLocal(c.Dir) || c.Report != "" && !filepath.IsLocal(c.Report) {
		return c, fault.New(pawl.ErrInvalid, "check %s names a path outside the project", c.ID)
	}
	program, err := exec.LookPath(c.Args[0])
	if err != nil {
		return c, fault.New(pawl.ErrUnavailable, "check %s needs %s, which is not installed", c.ID, c.Args[0]).Hint("Install it, or remove the check.")
	}
	if program, err = filepath.Abs(program); err != nil {
		return c, err
	}
	if within(program, top) {
		return c, fault.New(pawl.ErrDenied, "check %s runs %s, a program inside the project that the change could modify: use a program outside the project", c.ID, program)
	}
	c.Args = append([]string{program}, c.Args[1:]...)
	f.Tools[program], err = fileHash(program)
	return c, err
}

// within reports whether a path is in a directory, with and without resolving links.
func within(path, dir string) bool {
	for _, p := range []string{path, resolved(path)} {
		rel, err := filepath.Rel(resolved(dir), p)
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func fileHash(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // a program that is to be run
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// changedTools returns the programs that differ from their recorded hashes.
func changedTools(f pawl.Criteria) (changed []string) {
	for path, want := range f.Tools {
		if got, err := fileHash(path); err != nil || got != want {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// Discover finds the checks of a commit. A project without checks is an error.
func Discover(ctx context.Context, repo *git.Repo, commit string) ([]discover.Found, error) {
	entries, err := repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	f := discover.Files{
		Read:      func(name string) ([]byte, error) { return repo.Show(ctx, commit, name) },
		Installed: func(program string) bool { _, err := exec.LookPath(program); return err == nil },
	}
	for _, e := range entries {
		if !e.Submodule() {
			f.Paths = append(f.Paths, e.Path)
		}
	}
	found := discover.Checks(f)
	if len(found) == 0 {
		return nil, fault.New(pawl.ErrInvalid, "no checks found for this project").
			Hint("Name the command that tests it after --, such as `pawl gate -- make test`.")
	}
	return found, nil
}

// TestFormats returns the supported formats of test reports.
func TestFormats() []string { return slices.Sorted(maps.Keys(inventory.Formats)) }
