package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// A worktree has the commit checked out, with its history and nothing else of the
// user's repository. A commit of a worker does not affect the user's repository.
func TestMake(t *testing.T) {
	t.Parallel()
	t.Run("borrows", func(t *testing.T) { testMake(t, func(*Trees) {}) })
	t.Run("whole", func(t *testing.T) { testMake(t, func(trees *Trees) { trees.Whole = true }) })
}

func testMake(t *testing.T, tune func(*Trees)) {
	w := newEnv(t, map[string]string{"f": "one\n", "bin/run*": "#!/bin/sh\n", "a/link@": "../f", "out@": "/etc", "a/b/c": "", "crlf": "x\r\n", ".gitattributes": "* filter=evil\n"})
	for _, key := range []string{"filter.evil.smudge", "core.fsmonitor"} {
		w.git("config", key, w.evil)
	}
	w.write(filepath.Join(w.dir, ".git/hooks/post-checkout*"), "#!/bin/sh\n"+w.evil+"\n")
	tune(w.trees)
	before := w.state()
	if err := os.RemoveAll(w.seen); err != nil {
		t.Fatal(err)
	}
	if err := w.trees.Make(t.Context(), "pawl/m1", "one", "two"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(w.seen); err == nil {
		t.Error("a program of the repository was run")
	}
	for _, name := range []string{"one", "two"} {
		dir := w.trees.Path(name)
		if got := w.gitIn(dir, "status", "--porcelain", "--branch"); got != "## work" {
			t.Errorf("it is not clean: %s", got)
		}
		if got := w.gitIn(dir, "log", "--format=%s %D"); got != "first HEAD -> work" {
			t.Errorf("its history is %q", got)
		}
		for file, want := range map[string]string{"f": "one\n", "crlf": "x\r\n", "a/b/c": ""} {
			if got, err := os.ReadFile(filepath.Join(dir, file)); string(got) != want || err != nil {
				t.Errorf("%s is %q, %v", file, got, err)
			}
		}
		if got, err := os.Readlink(filepath.Join(dir, "a/link")); got != "../f" {
			t.Errorf("the link leads to %q, %v", got, err)
		}
		config, err := os.ReadFile(filepath.Join(dir, ".git/config"))
		if err != nil || strings.Contains(string(config), "evil") {
			t.Errorf("its settings are %s, %v", config, err)
		}
		w.sh(dir, "echo two >f; git rm -q bin/run; git commit -qam mine; git branch -f main; git gc -q; git fsck")
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("the user's repository has changed:\n%s", diff)
	}
}

// The index has the same metadata as git would write, so git does not read the files
// again.
func TestMakeIndex(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n", "a/run*": "x\n", "l@": "f", strings.Repeat("long/", 100) + "name": "deep\n"})
	dir := w.make("one")
	ours := w.gitIn(dir, "ls-files", "--stage", "--debug")
	w.gitIn(dir, "update-index", "--really-refresh")
	if diff := cmp.Diff(ours, w.gitIn(dir, "ls-files", "--stage", "--debug")); diff != "" {
		t.Error(diff)
	}
	w.gitIn(dir, "fsck", "--strict")
}

// Make works with several kinds of repositories.
func TestMakeKinds(t *testing.T) {
	t.Parallel()
	t.Run("submodule", func(t *testing.T) {
		w := newEnv(t, map[string]string{"f": "one\n"})
		w.sh(w.dir, "git -c protocol.file.allow=always submodule --quiet add ./ sub; git commit -qm sub; git branch -qf pawl/m1")
		dir := w.make("one")
		if names, err := os.ReadDir(filepath.Join(dir, "sub")); err != nil || len(names) > 0 {
			t.Errorf("%v, %v", names, err)
		}
		if got := w.gitIn(dir, "status", "--porcelain"); got != "" {
			t.Errorf("it is not clean: %s", got)
		}
		w.write(filepath.Join(dir, "sub/x"), "x\n")
		h := w.collect("one", "main")
		if diff := cmp.Diff(Collected{Left: []Left{{"sub", outSubmodule}}}, h); diff != "" {
			t.Error(diff)
		}
		w.sh(dir, "rm -r sub; echo file >sub")
		if diff := cmp.Diff([]Change{{"T", "sub"}}, w.collect("one", "main").Changes); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("SHA-256", func(t *testing.T) {
		w := newEnv(t, nil)
		w.sh(w.dir, "rm -rf .git; git init -q --object-format=sha256 -b main; git config user.name n; git config user.email e@example.org; echo one >f; git add f; git commit -qm first; git branch pawl/m1")
		dir := w.make("one")
		if got := w.gitIn(dir, "status", "--porcelain", "--branch"); got != "## work" {
			t.Errorf("it is not clean: %s", got)
		}
		w.write(filepath.Join(dir, "g"), "two")
		h := w.collect("one", "main")
		m, err := w.trees.Merge(t.Context(), "pawl/m1", h.Commit, label("one"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"f": "100644 one", "g": "100644 two"}, w.files(m.Commit)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a mode that git no longer writes", func(t *testing.T) {
		w := newEnv(t, map[string]string{"f": "one\n"})
		w.sh(w.dir, `tree=$(git ls-tree main | sed s/100644/100664/ | git mktree); git update-ref refs/heads/pawl/m1 $(git commit-tree -m old $tree)`)
		w.write(filepath.Join(w.make("one"), "g"), "two")
		h := w.collect("one", "pawl/m1")
		if diff := cmp.Diff([]Change{{"A", "g"}}, h.Changes); diff != "" {
			t.Error(diff)
		}
		if m, err := w.trees.Merge(t.Context(), "pawl/m1", h.Commit, label("one")); err != nil || len(m.Conflicts) > 0 {
			t.Errorf("%+v, %v", m, err)
		}
	})
	t.Run("a shallow clone, in a linked worktree", func(t *testing.T) {
		w := newEnv(t, map[string]string{"f": "one\n"})
		w.sh(w.dir, "git commit -q --allow-empty -m second; git branch -qf pawl/m1")
		shallow := filepath.Join(w.root, "shallow")
		w.git("clone", "-q", "--depth=1", "--branch", "pawl/m1", "file://"+w.dir, shallow)
		w.dir = filepath.Join(w.root, "linked")
		w.gitIn(shallow, "worktree", "add", "-q", "--detach", w.dir)
		w.trees.Repo = w.open()
		if got := w.gitIn(w.make("one"), "log", "--format=%s"); got != "second" {
			t.Errorf("its history is %q", got)
		}
	})
}

func TestMakeRefuses(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	blob := w.git("rev-parse", "main:f")
	hostile := func(lines string) string { // a commit that git would not make
		w.sh(w.dir, "printf '"+lines+"' | git mktree --missing >../tree")
		w.sh(w.dir, "git commit-tree -m x $(cat ../tree) >../commit")
		text, err := os.ReadFile(filepath.Join(w.root, "commit"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	w.make("there")
	link := w.git("rev-parse", "main:f")
	for name, tt := range map[string]struct {
		commit, place string
		want          error
	}{
		"there is one":        {"main", "there", pawl.ErrConflict},
		"no name":             {"main", "", pawl.ErrInvalid},
		"a way up":            {"main", "../x", pawl.ErrInvalid},
		"a name of pawl's":    {"main", ".making-x", pawl.ErrInvalid},
		"no commit":           {"nothing", "x", pawl.ErrNotFound},
		"an option":           {"--all", "x", pawl.ErrInvalid},
		".git":                {hostile(`100644 blob ` + blob + `\t.git\n`), "x", pawl.ErrInvalid},
		".GIT":                {hostile(`100644 blob ` + blob + `\t.GIT\n`), "x", pawl.ErrInvalid},
		"a way out":           {hostile(`100644 blob ` + blob + `\t..\n`), "x", pawl.ErrInvalid},
		"a link and a folder": {hostile(`120000 blob ` + link + `\tf\n040000 tree ` + w.git("rev-parse", "main^{tree}") + `\tf\n`), "x", os.ErrExist},
		"missing content":     {hostile(`100644 blob ` + strings.Repeat("1", 40) + `\tf\n`), "x", pawl.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if err := w.trees.Make(t.Context(), tt.commit, "other", tt.place); !errors.Is(err, tt.want) {
				t.Errorf("%v", err)
			}
			entries, err := os.ReadDir(w.trees.Dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("something is left: %v, %v", entries, err)
			}
		})
	}
	w.trees.MaxFiles = 1
	w.sh(w.dir, "echo x >g; git add g; git commit -qm more")
	if err := w.trees.Make(t.Context(), "main", "x"); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("too many files: %v", err)
	}
	w.trees.MaxFiles, w.trees.MaxBytes = 0, 5
	if err := w.trees.Make(t.Context(), "main", "x"); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("too many bytes: %v", err)
	}
}
