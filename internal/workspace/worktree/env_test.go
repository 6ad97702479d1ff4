package worktree

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/git"
)

// env is a user's repository with its worktrees.
type env struct {
	t     testing.TB
	dir   string // the repository
	root  string // the directory that contains it
	evil  string // a program that creates the file seen
	seen  string
	trees *Trees
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// label returns the label of the first attempt at a task.
func label(task string) Label {
	return Label{Mission: "m1", Task: task, Attempt: 1, Title: "do " + task, At: at}
}

// newEnv returns a repository with one commit of these files. A name that ends with *
// is an executable, one that ends with @ a symbolic link.
func newEnv(t testing.TB, files map[string]string) *env {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &env{t: t, root: root, dir: filepath.Join(root, "repo"), evil: filepath.Join(root, "evil"), seen: filepath.Join(root, "seen")}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(w.evil+"*", "#!/bin/sh\ntouch "+w.seen+"\nexit 1\n")
	w.git("init", "-q", "-b", "main", ".")
	w.git("config", "user.name", "n")
	w.git("config", "user.email", "e@example.org")
	for name, text := range files {
		w.write(filepath.Join(w.dir, name), text)
	}
	w.git("add", "-f", ".")
	w.git("commit", "-q", "--allow-empty", "-m", "first")
	w.git("branch", "pawl/m1")
	w.trees = &Trees{Repo: w.open(), Dir: filepath.Join(root, "data")}
	return w
}

func (w *env) open() *git.Repo {
	w.t.Helper()
	g, err := git.Find(context.Background(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := g.Open(context.Background(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// write writes a file to any path.
func (w *env) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	var err error
	if link, ok := strings.CutSuffix(path, "@"); ok {
		err = os.Symlink(text, link)
	} else if program, ok := strings.CutSuffix(path, "*"); ok {
		err = os.WriteFile(program, []byte(text), 0o700) //nolint:gosec // a program
	} else {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// git runs plain git in the user's repository.
func (w *env) git(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.dir, args...)
}

func (w *env) gitIn(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...) //nolint:gosec // the tests' own words
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_ALLOW_PROTOCOL=file")
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("git %q: %v\n%s%s", args, err, &out, &faults)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// sh runs a script in a directory.
func (w *env) sh(dir, script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script) //nolint:gosec // the tests' own words
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "EVIL="+w.evil, "ROOT="+w.root, "GIT_ALLOW_PROTOCOL=file")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// make creates a worktree of the mission's tip, and returns its directory.
func (w *env) make(name string) string {
	w.t.Helper()
	if err := w.trees.Make(context.Background(), "pawl/m1", name); err != nil {
		w.t.Fatal(err)
	}
	return w.trees.Path(name)
}

// collect collects a worktree that was made of a commit.
func (w *env) collect(name, base string) Collected {
	w.t.Helper()
	h, err := w.trees.Collect(context.Background(), name, base, label(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// files returns the mode and content of a commit's files by path.
func (w *env) files(commit string) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	for line := range strings.SplitSeq(w.git("ls-tree", "-r", "-z", commit), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		fields := strings.Fields(about)
		if fields[1] == "commit" {
			files[path] = fields[0]
			continue
		}
		files[path] = fields[0] + " " + w.git("cat-file", "blob", fields[2])
	}
	return files
}

// state returns everything in the user's repository that pawl must not change.
func (w *env) state() string {
	w.t.Helper()
	index, err := os.ReadFile(filepath.Join(w.dir, ".git", "index"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join([]string{
		w.git("for-each-ref", "--format=%(refname) %(objectname)"), w.git("rev-parse", "HEAD"), w.git("symbolic-ref", "HEAD"),
		w.git("--no-optional-locks", "status", "--porcelain"), w.git("config", "--list", "--local"), string(index),
	}, "\n")
}
