package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// A borrowing repository has the history of the other one, and nothing else of it.
func TestBorrow(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.must("config", "core.fsmonitor", w.evil)
	commit := w.must("rev-parse", "main")
	repo := w.repo()
	dir := t.TempDir()
	if err := repo.Borrow(dir, "work", commit); err != nil {
		t.Fatal(err)
	}
	w.dir = dir
	if got := w.must("log", "--format=%H %s %D"); got != commit+" first HEAD -> work" {
		t.Errorf("its history is %s", got)
	}
	if got := w.must("for-each-ref", "--format=%(refname)"); got != "refs/heads/work" {
		t.Errorf("its refs are %s", got)
	}
	if got := w.must("config", "--list", "--local", "--name-only"); strings.Contains(got, "fsmonitor") || !strings.Contains(got, "user.email") {
		t.Errorf("its settings are %s", got)
	}
	if err := repo.Borrow(dir, "work", commit); err == nil {
		t.Error("it was made twice")
	}
	if err := repo.Borrow(t.TempDir(), "--work", commit); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("an option for a branch: %v", err)
	}
	odd := *repo
	odd.Common = "/a\nb"
	if err := odd.Borrow(t.TempDir(), "work", commit); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("two lines: %v", err)
	}
}

// Commands with Apart affect neither the worktree nor the index, whatever the
// repository's settings are.
func TestApart(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	for _, key := range []string{"core.splitIndex", "core.sparseCheckout", "index.sparse"} {
		w.must("config", key, "true")
	}
	w.must("config", "core.protectNTFS", "false")
	list := func() string {
		var names []string
		for _, dir := range []string{w.dir, filepath.Join(w.dir, ".git")} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				names = append(names, e.Name())
			}
		}
		index, err := os.ReadFile(filepath.Join(w.dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " ") + string(index)
	}
	before, repo, apart := list(), w.repo(), t.TempDir()
	blob := w.must("rev-parse", "main:f")
	for _, c := range []Call{
		{Args: []string{"read-tree", "main"}, Apart: apart},
		{Args: []string{"update-index", "-z", "--index-info"}, In: strings.NewReader("100644 " + blob + "\tnew\x00100644 " + blob + "\tgit~1\x00"), Apart: apart},
	} {
		if _, err := repo.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	out, err := repo.Run(t.Context(), Call{Args: []string{"ls-files"}, Apart: apart})
	if string(out) != "f\nnew\nsub/g\n" || err != nil {
		t.Errorf("its index has %q, %v", out, err)
	}
	if list() != before {
		t.Errorf("the repository has changed: %q", list())
	}
}

func TestAtLeast(t *testing.T) {
	t.Parallel()
	r := &Repo{git: &Git{bin: "git", version: "2.38.1"}}
	for version, want := range map[[2]int]bool{{2, 32}: true, {2, 38}: true, {2, 39}: false, {3, 0}: false, {1, 99}: true} {
		if err := r.AtLeast(version[0], version[1]); (err == nil) != want || err != nil && !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v: %v", version, err)
		}
	}
}
