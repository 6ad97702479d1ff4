package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// withSnapshots gives a testEnv a store of snapshots.
func withSnapshots(t *testing.T, w *testEnv, c snapshot.Config) *snapshot.Store {
	t.Helper()
	var err error
	if c.Git, err = git.Find(t.Context(), w.dir); err != nil {
		t.Fatal(err)
	}
	c.Dir = filepath.Join(t.TempDir(), "snapshots")
	store, err := snapshot.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	w.Snapshots = store
	return store
}

// newUndoEnv is an environment whose calls can be undone, with a clock that goes on.
func newUndoEnv(t *testing.T, s setup) *testEnv {
	t.Helper()
	now := noon
	s.clock = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	w := newEnv(t, s)
	withSnapshots(t, w, snapshot.Config{})
	return w
}

// order has a Undo carried out as the service and a runner do.
func (w *testEnv) order(r pawl.Undo) pawl.Undone {
	w.t.Helper()
	plan, err := w.PlanUndo(w.t.Context(), session, r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.append(pawl.UndoAsked{Undo: plan.Undo})
	return w.carriedOut()
}

// carriedOut has the order that waits carried out.
func (w *testEnv) carriedOut() pawl.Undone {
	w.t.Helper()
	if _, ok, err := w.Begin(w.t.Context(), session); ok || err != nil {
		w.t.Fatalf("want nothing left to do, got %v, %v", ok, err)
	}
	all := w.bodies(pawl.Undone{})
	return all[len(all)-1].(pawl.Undone)
}

// show is all that is in the workspace.
func (w *testEnv) show() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == w.dir {
			return err
		}
		name, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir():
			all[name] = "folder"
		case e.Type() == fs.ModeSymlink:
			all[name], err = os.Readlink(path)
			all[name] = "-> " + all[name]
		default:
			text, err := os.ReadFile(path)
			all[name] = fmt.Sprintf("%v %s", info.Mode().Perm(), text)
			return err
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// write writes a file as the person does.
func (w *testEnv) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // a test's own
		w.t.Fatal(err)
	}
}

// newest is the newest event of a kind.
func (w *testEnv) newest(like pawl.Body) pawl.Seq {
	w.t.Helper()
	var seq pawl.Seq
	for _, e := range w.events() {
		if pawl.KindOf(e.Body) == pawl.KindOf(like) {
			seq = e.Seq
		}
	}
	return seq
}

// talk is the conversation, with its numbers.
func (w *testEnv) talk() []pawl.Message {
	w.t.Helper()
	messages, err := pawl.Conversation(w.events())
	if err != nil {
		w.t.Fatal(err)
	}
	return messages
}
