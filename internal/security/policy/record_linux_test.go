package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// TestRecord: the outcome of a command on a view is known, and what it could change outside of it. Of other commands
// nothing is known.
func TestRecord(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, outside := open(t)
	configure(t, `{"sandbox":{"writable":[`+quote(outside)+`]}}`)
	linked := filepath.Join(filepath.Dir(dir), "linked")
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "one"}, {"worktree", "add", "-q", linked}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	view, err := s.View(t.Context(), dir)
	if err != nil || view.Name != ViewOverlay {
		t.Fatal(view, err)
	}
	for name, tt := range map[string]struct {
		change func(*sandbox.Request)
		want   []string
		parts  int // transactions; 0 if the command has none
	}{
		"a command":       {func(*sandbox.Request) {}, []string{outside}, 1},
		"with network":    {func(r *sandbox.Request) { r.Network = []string{"example.org"} }, []string{"example.org", outside}, 1},
		"linked worktree": {func(r *sandbox.Request) { r.Workspace, r.Dir = linked, linked }, []string{outside}, 2},
		"yolo":            {func(r *sandbox.Request) { r.Mode = "yolo" }, nil, 0},
		"unsandboxed":     {func(r *sandbox.Request) { r.Escape = true }, nil, 0},
		"read-only":       {func(r *sandbox.Request) { r.Mode = "plan" }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := sandbox.Request{Session: session, Call: "call_1", Workspace: dir, Dir: dir, Mode: "guard", Args: []string{"true"}}
			tt.change(&r)
			w, err := s.Wrap(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			w.Close()
			rec, err := s.Commands().Interrupted(t.Context(), transaction.Call{Session: session, ID: "call_1"})
			if err != nil {
				t.Fatal(err)
			}
			s.Commands().Forget(transaction.Call{Session: session, ID: "call_1"})
			if (rec != nil) != (tt.parts > 0) {
				t.Fatalf("got %+v", rec)
			}
			if rec == nil {
				return
			}
			if diff := cmp.Diff(&transaction.Record{Call: rec.Call, Parts: tt.parts, Outside: tt.want, Closed: true}, rec); diff != "" {
				t.Error(diff)
			}
		})
	}
	if entries, err := os.ReadDir(filepath.Join(os.Getenv("PAWL_DATA"), "transactions")); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "calls" }) {
		t.Errorf("%v, %v", entries, err)
	}
}
