//go:build e2e

package mission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// held is a check that fails on the base, passes on each change that keeps what is there, and costs nothing.
const held = `sh -c 'grep -q first notes.txt && test -n "$(find . -path ./.git -prune -o -type f -newermt 2021-01-01 -print)"'`

// notes is a project without anything to build.
func notes(t *testing.T) *Env {
	t.Helper()
	w := New(t, harness.Binary(t, ""), map[string]string{"notes.txt": "first\nsecond\nthird\n", "other.txt": "other\n"})
	w.Env = append(w.Env, "TMPDIR="+t.TempDir())
	return w
}

// goes has the mission run, and everybody agree with the result.
func (w *Env) goes(args ...string) pawl.Board {
	w.t.Helper()
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	out := w.Run(append(args, "--check", held, "Write it down.")...)
	b := w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed || len(b.Mission.Open()) > 0 {
		w.t.Fatalf("exit %d, the mission is %s\n%s\n%s\n%s", out.Code, b.State, out.Stdout, out.Stderr, w.reported(b))
	}
	w.clean()
	return b
}

// told is the mission's log in lines, for a person who looks for a fault.
func (w *Env) reported(b pawl.Board) string {
	w.t.Helper()
	return w.Must(w.t, "session", "show", string(b.Session.ID)).Stdout
}

// clean fails if a worktree, or anything of the gate, is left.
func (w *Env) clean() {
	w.t.Helper()
	for _, path := range w.left() {
		w.t.Errorf("%s is left", path)
	}
}

// left are the worktrees and temporary directories that are there now.
func (w *Env) left() (paths []string) {
	w.t.Helper()
	for _, pattern := range []string{filepath.Join(w.data(), "worktrees/*/*"), filepath.Join(w.data(), "worktrees/*/.*"), filepath.Join(w.env("TMPDIR"), "*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			w.t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// data is pawl's directory.
func (w *Env) data() string { return w.env("PAWL_DATA") }

// env is a variable as the program sees it.
func (w *Env) env(name string) string {
	for _, v := range slices.Backward(w.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	w.t.Fatalf("there is no %s", name)
	return ""
}

// has fails unless a file of the mission's branch has these words.
func (w *Env) has(b pawl.Board, path string, words ...string) {
	w.t.Helper()
	text := w.Git("show", b.Mission.Branch+":"+path)
	for _, word := range words {
		if !strings.Contains(text, word) {
			w.t.Errorf("%s has no %q: %q", path, word, text)
		}
	}
}

// bodies are those of a kind in a session's log.
func bodies[B pawl.Body](w *Env, id pawl.SessionID) (list []B) {
	w.t.Helper()
	for _, e := range w.Export(w.t, string(id)) {
		if b, ok := e.Body.(B); ok {
			list = append(list, b)
		}
	}
	return list
}

// returns are the reasons for which tasks came back, with their task.
func (w *Env) returns(b pawl.Board) (list []string) {
	w.t.Helper()
	for _, r := range bodies[pawl.TaskReturned](w, b.Session.ID) {
		list = append(list, r.Task+" "+string(r.Why))
	}
	return list
}

// subtask is what the worker of an attempt was given at first.
func (w *Env) subtask(b pawl.Board, task string, attempt int) string {
	w.t.Helper()
	for _, s := range bodies[pawl.TaskStarted](w, b.Session.ID) {
		if s.Task == task && s.Attempt == attempt {
			return bodies[pawl.Prompted](w, s.Worker)[0].Parts.Text()
		}
	}
	w.t.Fatalf("there was no attempt %d at %s", attempt, task)
	return ""
}

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
