package agent

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// newAddedDir returns an environment with a turn that changed files in the workspace and, with a
// command and a tool, in an added directory. contents returns the files there.
func newAddedDir(t *testing.T) (w *testEnv, lib string, contents func() string) {
	t.Helper()
	lib, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"old": "old", "mod": "mod"} {
		if err := os.WriteFile(filepath.Join(lib, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w = newUndoEnv(t, setup{script: []string{
		`{"calls":[` + bash("printf 1 > here; printf new > "+lib+"/new; rm "+lib+"/old; printf more >> "+lib+"/mod") + `]}`,
		`{"calls":[` + bash("printf twice >> "+lib+"/new") + `]}`,
		`{"text":"Done."}`,
	}})
	w.prompt("go", func(p *pawl.Prompted) { p.AddDirs = []string{lib} })
	w.mustTurn(pawl.ReasonEndTurn)
	return w, lib, func() string {
		var all []string
		for _, name := range []string{"old", "mod", "new"} {
			text, err := os.ReadFile(filepath.Join(lib, name))
			if err == nil {
				all = append(all, name+"="+string(text))
			}
		}
		return strings.Join(all, " ")
	}
}

const (
	dirBefore = "old=old mod=mod"
	dirAfter  = "mod=modmore new=newtwice"
)

// Changes in added directories are undone and redone with those of the workspace.
func TestUndoInAddedDirectory(t *testing.T) {
	t.Parallel()
	w, lib, contents := newAddedDir(t)
	check(t, dirAfter, contents())
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range plan.Files {
		paths = append(paths, f.Path)
	}
	check(t, []string{"here", lib + "/mod", lib + "/new", lib + "/old"}, paths)
	check(t, nil, plan.Blind)
	if !strings.Contains(plan.Diff, "--- a/here\n") || !strings.Contains(plan.Diff, "+++ b"+lib+"/mod\n") {
		t.Errorf("the diff is\n%s", plan.Diff)
	}
	done := w.order(pawl.Undo{})
	check(t, pawl.Undone{Asked: done.Asked, Changed: paths}, done)
	check(t, dirBefore, contents())
	check(t, map[string]string{}, w.show())
	check(t, "", w.order(pawl.Undo{Redo: pawl.LastUndo}).Refused)
	check(t, dirAfter, contents())
	check(t, map[string]string{"here": "-rw-r--r-- 1"}, w.show())
}

// A conflict in an added directory keeps the workspace from being restored without it, unless the
// user decides what to do with it.
func TestUndoConflictInAddedDirectory(t *testing.T) {
	t.Parallel()
	w, lib, contents := newAddedDir(t)
	if err := os.WriteFile(filepath.Join(lib, "mod"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := w.order(pawl.Undo{Scope: pawl.ScopeFiles}); !strings.Contains(done.Refused, lib+"/mod") {
		t.Errorf("refused: %q", done.Refused)
	}
	check(t, "mod=mine new=newtwice", contents())
	check(t, map[string]string{"here": "-rw-r--r-- 1"}, w.show())
	done := w.order(pawl.Undo{Scope: pawl.ScopeFiles, Conflicts: pawl.ConflictsAside})
	check(t, "", done.Refused)
	check(t, []string{lib + "/mod"}, slices.Collect(maps.Keys(done.Aside)))
	check(t, dirBefore, contents())
	if text, err := os.ReadFile(done.Aside[lib+"/mod"]); string(text) != "mine" {
		t.Errorf("the user's version is %q, %v", text, err)
	}
}

// elsewhere is an authority that no longer allows added directories.
type elsewhere struct{ Authority }

func (a elsewhere) Policy(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error) {
	if len(s.AddDirs) > 0 {
		return permission.Policy{}, errors.New("not below the server's directory")
	}
	return a.Authority.Policy(ctx, id, dir, s)
}

// What a session may no longer change is not undone there, and undo tells so.
func TestUndoOutsideOfAllowedDirectories(t *testing.T) {
	t.Parallel()
	w, _, contents := newAddedDir(t)
	w.Authority = elsewhere{w.Authority}
	if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("planned: %v", err)
	}
	w.append(pawl.UndoAsked{Undo: pawl.Undo{To: w.newest(pawl.TurnStarted{})}})
	if done := w.carriedOut(); !strings.Contains(done.Refused, "not below the server's directory") {
		t.Errorf("refused: %q", done.Refused)
	}
	check(t, dirAfter, contents())
	check(t, map[string]string{"here": "-rw-r--r-- 1"}, w.show())
}

// A directory of which no snapshot could be taken makes the call one that cannot be undone.
func TestUndoWithoutSnapshotOfAddedDirectory(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	w := newUndoEnv(t, setup{script: []string{`{"calls":[` + bash("printf 1 > here") + `]}`, `{"text":"Done."}`}})
	w.prompt("go", func(p *pawl.Prompted) { p.AddDirs = []string{missing} })
	w.mustTurn(pawl.ReasonEndTurn)
	started := w.bodies(pawl.CallStarted{})[0].(pawl.CallStarted)
	if started.Unsafe == "" || started.Snapshot == "" {
		t.Errorf("started: %+v", started)
	}
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, []pawl.CallID{started.Call}, plan.Blind)
	if len(plan.Files) != 1 {
		t.Errorf("files: %+v", plan.Files)
	}
}
