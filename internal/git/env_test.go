package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// env is a hostile repository, and a directory in which each of its programs that runs
// creates a file.
type env struct {
	t         *testing.T
	dir, seen string
	evil      string // a program that creates a file
}

// newEnv returns a repository with a commit of the file f, which has changed since.
func newEnv(t *testing.T) *env {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &env{t: t, dir: filepath.Join(root, "ws"), seen: filepath.Join(root, "seen"), evil: filepath.Join(root, "evil")}
	for _, dir := range []string{w.dir, w.seen} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.evil, "#!/bin/sh\necho \"$0 $@\" >> "+w.seen+"/evil\nexit 1\n")
	w.must("init", "-q", "-b", "main", ".")
	w.must("config", "user.name", "n")
	w.must("config", "user.email", "e@example.org")
	w.file("f", "one\n")
	w.file("sub/g", "g\n")
	w.must("add", ".")
	w.must("commit", "-q", "-m", "first")
	w.file("f", "two, and longer\n")
	return w
}

// write writes a program or file to any path.
func (w *env) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // programs
		w.t.Fatal(err)
	}
}

// file writes a file into the repository.
func (w *env) file(name, text string) {
	w.t.Helper()
	w.write(filepath.Join(w.dir, name), text)
}

// plain runs git with a user's environment, but without the configuration of the user
// who runs the tests.
func (w *env) plain(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the tests' own words
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *env) must(args ...string) string {
	w.t.Helper()
	out, err := w.plain(args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// tripped returns the programs that were run.
func (w *env) tripped() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.seen)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// open opens the repository as pawl does.
func (w *env) open(dir string) (*Repo, error) {
	g, err := Find(context.Background(), w.dir)
	if err != nil {
		return nil, err
	}
	return g.Open(context.Background(), dir)
}

func (w *env) repo() *Repo {
	w.t.Helper()
	r, err := w.open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// all runs every operation of pawl on a repository. Some may fail.
func (w *env) all() (faults []error) {
	ctx := context.Background()
	r, err := w.open(w.dir)
	if err != nil {
		return []error{err}
	}
	note := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	_, err = r.Head(ctx)
	note(err)
	_, err = r.Branch(ctx)
	note(err)
	_, err = r.Status(ctx)
	note(err)
	_, err = r.Show(ctx, "main", "sub/g")
	note(err)
	_, err = r.Diff(ctx, "main", "f")
	note(err)
	_, err = r.Diff(ctx, "")
	note(err)
	_, _, err = r.Changed(ctx, ".")
	note(err)
	_, err = r.DiffHead(ctx, []string{"f"}, 1<<20)
	note(err)
	for _, c := range []Call{
		{Args: []string{"log", "-p", "-1"}},
		{Args: []string{"show"}, Refs: []string{"main"}},
		{Args: []string{"fetch", "--quiet", "origin"}},
		{Args: []string{"add"}, Paths: []string{"f"}},
		{Args: []string{"commit", "--quiet", "-m", "second"}},
		{Args: []string{"checkout-index", "--force"}, Paths: []string{"f"}},
		{Args: []string{"worktree", "add", "--quiet", "--detach", filepath.Join(filepath.Dir(w.dir), "tree")}},
	} {
		_, err = r.Run(ctx, c)
		note(err)
	}
	return faults
}

// onTerminal runs plain git on a terminal.
func (w *env) onTerminal(args string) {
	cmd := exec.Command("script", "-qec", "git "+args, "/dev/null") //nolint:gosec // the tests' own words
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "TERM=xterm", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	w.t.Logf("%s, %v", out, err) // it may fail with its pager
}
