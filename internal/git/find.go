// Package git runs git for pawl itself, in repositories that nobody has vouched
// for. A repository's configuration names programs for git to run, in dozens of
// keys; here none of them is. Commands that a model asks for are not run by
// this package but in the sandbox.
package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// The oldest git that accepts all of our options.
const minMajor, minMinor = 2, 32

// Git is a git program that was found outside of a workspace.
type Git struct {
	bin     string // absolute, real
	version string
}

// Find looks for git in the PATH. It passes over what the workspace or another
// user could have put there: entries that are relative, inside of the workspace,
// or writable for everybody.
func Find(ctx context.Context, workspace string) (*Git, error) {
	workspace, err := realPath(workspace)
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		bin, err := filepath.EvalSymlinks(filepath.Join(dir, "git"))
		inside := within(bin, workspace) || within(resolved(dir), workspace)
		if err != nil || inside || !program(bin) {
			continue
		}
		g := &Git{bin: bin}
		if err := g.readVersion(ctx); err != nil {
			return nil, fmt.Errorf("find git: %w", err)
		}
		return g, nil
	}
	return nil, fmt.Errorf("find git: there is none in the PATH outside of %s: install it: %w", workspace, pawl.ErrNotFound)
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

// AtLeast refuses a git that is older.
func (g *Git) AtLeast(major, minor int) error {
	numbers := strings.SplitN(g.version, ".", 3)
	if len(numbers) >= 2 {
		first, err1 := strconv.Atoi(numbers[0])
		second, err2 := strconv.Atoi(numbers[1])
		if err1 == nil && err2 == nil && (first > major || first == major && second >= minor) {
			return nil
		}
	}
	return fmt.Errorf("%s is version %.20q, needed is %d.%d or later: upgrade it: %w", g.bin, g.version, major, minor, pawl.ErrInvalid)
}

// AtLeast refuses a git that is older than this version.
func (r *Repo) AtLeast(major, minor int) error { return r.git.AtLeast(major, minor) }

// program reports whether a file can be run and could not have been put there
// by anybody else.
func program(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || info.Mode().Perm()&0o002 != 0 {
		return false
	}
	folder, err := os.Stat(filepath.Dir(path))
	return err == nil && folder.Mode().Perm()&0o002 == 0
}

// realPath returns the absolute path of something, without links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// resolved is realPath, or "" if there is nothing.
func resolved(path string) string {
	path, err := realPath(path)
	if err != nil {
		return ""
	}
	return path
}

// within reports whether a real path is directory or below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
