package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWorktrees: a linked worktree can commit into its repository, and change
// nothing there that git acts upon.
func TestWorktrees(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	w := newTestEnv(t, backend)
	main := filepath.Join(w.root, "main")
	w.git("init", "-q", main)
	w.git("-C", main, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
	tree := filepath.Join(w.root, "tree")
	w.git("-C", main, "worktree", "add", "-q", tree)
	for _, name := range []string{".git/config", ".git/worktrees/tree/commondir", ".git/worktrees/tree/gitdir"} {
		text, err := os.ReadFile(filepath.Join(main, name))
		if err != nil {
			t.Fatal(err)
		}
		w.guarded, w.before[filepath.Join(main, name)] = append(w.guarded, filepath.Join(main, name)), string(text)
	}
	w.guarded = append(w.guarded, filepath.Join(main, ".git/hooks/pre-commit"), filepath.Join(main, ".git/commondir"), filepath.Join(main, "x"))
	p := Profile{Dir: tree}
	o := w.run(p, `echo a > a; git add a; git -c user.name=n -c user.email=e commit -qm second; git log --format=%s; git status --short`)
	if diff := cmp.Diff("second\nfirst\n", o.output); diff != "" {
		t.Error(diff)
	}
	if out, err := exec.Command("git", "-C", main, "log", "--format=%s", "tree").Output(); err != nil || string(out) != "second\nfirst\n" {
		t.Errorf("%q, %v", out, err)
	}
	o = w.run(p, `m={root}/main/.git; echo bad > $m/config; echo bad > $m/hooks/pre-commit; echo bad > $m/commondir; echo bad > $m/../x
		echo bad > $m/worktrees/tree/commondir; echo bad > $m/worktrees/tree/gitdir; echo bad > $m/worktrees/tree/config.worktree
		echo 'gitdir: /tmp' > .git; mv .git x; git config a.b c; true`)
	if damage := w.damage(o); len(damage) > 0 {
		t.Errorf("%q\n%s", damage, o.output)
	}
	if diff := cmp.Diff([]string{"../main/.git/worktrees/tree/config.worktree"}, o.reported); diff != "" {
		t.Error(diff)
	}
}

// TestForgedWorktrees: a file .git that came with the workspace opens nothing.
func TestForgedWorktrees(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	for name, point := range map[string]func(main string) string{
		"a repository":         func(main string) string { return main + "/.git" },
		"another's worktree":   func(main string) string { return main + "/.git/worktrees/tree" },
		"worktrees themselves": func(main string) string { return main + "/.git/worktrees" },
		"a folder":             func(main string) string { return main },
		"nothing":              func(main string) string { return main + "/none" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, backend)
			main := filepath.Join(w.root, "main")
			w.git("init", "-q", main)
			w.git("-C", main, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
			w.git("-C", main, "worktree", "add", "-q", filepath.Join(w.root, "tree"))
			forged := filepath.Join(w.root, "forged")
			w.write(filepath.Join(forged, ".git"), "gitdir: "+point(main)+"\n")
			o := w.run(Profile{Dir: forged}, `for d in . objects refs logs worktrees/tree; do touch {root}/main/.git/$d/x && echo ESCAPED $d; done; touch {root}/main/x && echo ESCAPED`)
			if strings.Contains(o.output, "ESCAPED") {
				t.Error(o.output)
			}
		})
	}
}

// TestGitParts: the repository's own configuration says what else is a part of it.
func TestGitParts(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	w := newTestEnv(t, backend)
	w.write(filepath.Join(w.ws, "tools/hooks/pre-commit"), "mine")
	w.write(filepath.Join(w.ws, "shared.gitconfig"), "mine")
	w.write(filepath.Join(w.ws, ".git/modules/dep/HEAD"), "ref: refs/heads/main")
	w.write(filepath.Join(w.ws, ".git/modules/dep/config"), "mine")
	w.write(filepath.Join(w.ws, ".git/modules/dep/hooks/pre-commit"), "mine")
	w.git("-C", w.ws, "config", "core.hooksPath", "tools/hooks")
	w.git("-C", w.ws, "config", "include.path", "../shared.gitconfig")
	config, err := os.ReadFile(filepath.Join(w.ws, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	w.before[filepath.Join(w.ws, ".git/config")] = string(config)
	for _, name := range []string{"tools/hooks/pre-commit", "shared.gitconfig", ".git/modules/dep/config", ".git/modules/dep/hooks/pre-commit"} {
		w.guarded, w.before[filepath.Join(w.ws, name)] = append(w.guarded, filepath.Join(w.ws, name)), "mine"
	}
	w.guarded = append(w.guarded, filepath.Join(w.ws, "tools/hooks/post-merge"), filepath.Join(w.ws, ".git/modules/dep/commondir"))
	o := w.run(w.profile, `for f in tools/hooks/pre-commit tools/hooks/post-merge shared.gitconfig .git/modules/dep/config .git/modules/dep/hooks/pre-commit .git/modules/dep/commondir; do echo bad > $f; done; true`)
	if damage := w.damage(o); len(damage) > 0 {
		t.Errorf("%q\n%s", damage, o.output)
	}
}

// TestSymlinks: a protected name that is a link cannot be held, so it is reported.
func TestSymlinks(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	w := newTestEnv(t, backend)
	if err := os.Symlink("pkg", filepath.Join(w.ws, ".claude")); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.ws, "pkg/settings.json"), "mine")
	o := w.run(w.profile, `echo bad > .claude/settings.json; echo bad > pkg/settings.json; true`)
	if text, err := os.ReadFile(filepath.Join(w.ws, "pkg/settings.json")); err != nil || string(text) != "mine" || len(o.reported) > 0 {
		t.Errorf("%q, %v, told of %q", text, err, o.reported)
	}
	o = w.run(w.profile, `rm .claude; mkdir .claude; echo bad > .claude/settings.json`)
	if diff := cmp.Diff([]string{".claude"}, o.reported); diff != "" {
		t.Error(diff, o.output)
	}
}

func TestGitConfigPaths(t *testing.T) {
	t.Setenv("HOME", "/h")
	dir := t.TempDir()
	config := filepath.Join(dir, ".git", "config")
	if err := os.Mkdir(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `[core]
	bare = false
	hooksPath = hooks
[Core] HooksPath="/abs/hooks"
[include]
	path = ../a
	path = ~/b
[includeIf "gitdir:/x"]
	path = c
[other]
	path = no
	hooksPath = no
[broken
	path = no
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{dir + "/hooks", "/abs/hooks", dir + "/a", "/h/b", dir + "/.git/c"}
	if diff := cmp.Diff(want, gitConfigPaths(config, dir)); diff != "" {
		t.Error(diff)
	}
}
