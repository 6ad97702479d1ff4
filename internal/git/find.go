// Package git runs git for pawl itself, in repositories that are not trusted. A
// repository's configuration can name programs for git to run, in dozens of keys;
// this package disables all of them. It does not run the commands of a model: those
// run in the sandbox.
package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// minMajor and minMinor are the oldest version of git that supports all options in
// use.
const minMajor, minMinor = 2, 32

// Git is a git program outside of the workspace.
type Git struct {
	bin     string // absolute path without symbolic links
	version string
}

// Find searches PATH for git, like Program.
func Find(ctx context.Context, workspace string) (*Git, error) {
	bin, err := Program("git", workspace)
	if err != nil {
		return nil, err
	}
	g := &Git{bin: bin}
	if err := g.readVersion(ctx); err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	return g, nil
}

// Program searches PATH for a program and returns its real path. It skips programs that
// the workspace or another user could have placed: in relative directories, inside the
// workspace, or world-writable. It returns pawl.ErrNotFound if no such program exists.
func Program(name, workspace string) (string, error) {
	workspace, err := realPath(workspace)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		bin, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		inside := within(bin, workspace) || within(resolved(dir), workspace)
		if err != nil || inside || !program(bin) {
			continue
		}
		return bin, nil
	}
	return "", fault.New(pawl.ErrNotFound, "%s not found in PATH outside %s", name, workspace).Hint("Install %s.", name)
}

// Version returns git's version, such as 2.39.5.
func (g *Git) Version() string { return g.version }

func (g *Git) readVersion(ctx context.Context) error {
	out, err := g.exec(ctx, "/", g.environment(nil, nil), []string{"version"}, 1<<10)
	if err != nil {
		return err
	}
	g.version, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version "), " ")
	return g.AtLeast(minMajor, minMinor)
}

// AtLeast returns an error if git is older than this version.
func (g *Git) AtLeast(major, minor int) error {
	numbers := strings.SplitN(g.version, ".", 3)
	if len(numbers) >= 2 {
		first, err1 := strconv.Atoi(numbers[0])
		second, err2 := strconv.Atoi(numbers[1])
		if err1 == nil && err2 == nil && (first > major || first == major && second >= minor) {
			return nil
		}
	}
	return fault.New(pawl.ErrInvalid, "%s is version %.20q, but %d.%d or later is required", g.bin, g.version, major, minor).Hint("Upgrade git.")
}

// AtLeast returns an error if git is older than this version.
func (r *Repo) AtLeast(major, minor int) error { return r.git.AtLeast(major, minor) }

// program reports whether path is an executable file, and neither it nor its
// directory is world-writable.
func program(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || info.Mode().Perm()&0o002 != 0 {
		return false
	}
	folder, err := os.Stat(filepath.Dir(path))
	return err == nil && folder.Mode().Perm()&0o002 == 0
}

// realPath returns the absolute path without symbolic links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// resolved is realPath, or "" on an error.
func resolved(path string) string {
	path, err := realPath(path)
	if err != nil {
		return ""
	}
	return path
}

// within reports whether a real path is the given directory or inside of it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
