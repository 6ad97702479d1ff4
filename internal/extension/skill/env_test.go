package skill_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden files anew")

var day = time.Date(2026, 11, 15, 1, 2, 3, 0, time.UTC)

// put makes files. A text that begins with -> is a link; a name that ends in .sh
// is a program.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if to, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// md is a SKILL.md.
func md(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n" + body
}

// real returns a new directory's real path.
func real(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// directory opens a directory.
func folder(t *testing.T, dir string) frontmatter.Directory {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return frontmatter.Directory{Tree: w, Path: dir}
}

func trusted(string) bool { return true }

// project discovers what is in a directory alone.
func project(t *testing.T, dir string) *skill.Set {
	t.Helper()
	return skill.Discover(frontmatter.Sources{Project: folder(t, dir), Trusted: trusted})
}

// user discovers what was installed into pawl's own directory.
func user(t *testing.T, dir string) *skill.Set {
	t.Helper()
	return skill.Discover(frontmatter.Sources{Config: folder(t, dir)})
}

// repository is a git repository with files.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T, files map[string]string) repository {
	t.Helper()
	r := repository{t, real(t)}
	r.git("init", "-q", "-b", "main", ".")
	r.commit(files)
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...) //nolint:gosec // the tests' own words
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit puts files into the repository and returns the commit's id.
func (r repository) commit(files map[string]string) string {
	r.t.Helper()
	put(r.t, r.dir, files)
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	return r.git("rev-parse", "HEAD")
}

func (r repository) source() string { return "file://" + r.dir }

// open opens a directory as an installer does.
func open(dir string) (skill.Tree, error) {
	w, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// installer puts skills into dir/skills, by pawl's own git.
func installer(t *testing.T, dir string) *skill.Installer {
	t.Helper()
	g, err := git.Find(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	return &skill.Installer{
		Dir: filepath.Join(dir, "skills"), Local: true, Now: func() time.Time { return day }, Open: open,
		Fetch: func(ctx context.Context, from skill.Source) (skill.Repository, error) {
			f, err := g.Fetch(ctx, git.Remote{Address: from.Address, Ref: from.Ref, Local: from.Local})
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: run with -update if this is right:\n%s", path, got)
	}
}
