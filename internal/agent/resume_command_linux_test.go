package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// viewed begins the transaction of a call, as the sandbox does, whose command changes a file and a protected one.
func viewed(t *testing.T, s *transaction.Store, root string, call pawl.CallID, outside ...string) *transaction.Transaction {
	t.Helper()
	tx, err := s.Begin(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Record(transaction.Call{Session: session, ID: call}, outside, tx); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", ".envrc"} {
		if err := os.WriteFile(filepath.Join(tx.Upper(), name), []byte("after\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tx
}

func finishView(t *testing.T, tx *transaction.Transaction) {
	t.Helper()
	if _, err := tx.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptedCommandIsKnown: the result of an interrupted command on a view says whether its changes were applied. Only
// effects outside are unknown, and, where workspaces are restored from checkpoints, applied changes.
func TestInterruptedCommandIsKnown(t *testing.T) {
	t.Parallel()
	closeView := func(_ *testing.T, tx *transaction.Transaction) { tx.Close() }
	const unknown = "The outcome of this call is unknown"
	for _, tt := range []struct {
		name       string
		end        func(*testing.T, *transaction.Transaction)
		outside    []string
		checkpoint bool
		status     pawl.CallStatus
		want       []string
		not        []string
		applied    bool
	}{
		{name: "discarded", end: closeView, status: pawl.CallCanceled, want: []string{"None of its changes to the workspace were applied. You can run it again."}, not: []string{"unknown", "since it started"}},
		{name: "applied", end: finishView, status: pawl.CallDone, want: []string{"changes were applied: 1 file.", ".envrc not changed: ", "+after\n"}, not: []string{"unknown", "run it again"}, applied: true},
		{
			name: "discarded, with network", end: closeView, outside: []string{"example.org"}, status: pawl.CallUnknown,
			want: []string{"None of its changes to the workspace were applied.", "example.org: the outcome there is unknown"}, not: []string{"You can run it again"},
		},
		{
			name: "applied, with network", end: finishView, outside: []string{"example.org"}, status: pawl.CallUnknown,
			want: []string{"changes were applied: 1 file.", "example.org: the outcome there is unknown"}, applied: true,
		},
		{name: "discarded, with checkpoints", end: closeView, checkpoint: true, status: pawl.CallCanceled, want: []string{"None of its changes"}},
		{name: "applied, with checkpoints", end: finishView, checkpoint: true, status: pawl.CallUnknown, want: []string{unknown}, not: []string{"applied"}},
		{name: "still running", end: func(t *testing.T, tx *transaction.Transaction) { t.Cleanup(tx.Close) }, status: pawl.CallUnknown, want: []string{unknown}, not: []string{"applied"}},
	} {
		for _, ends := range []string{"goes on", "is canceled"} {
			t.Run(tt.name+", then it "+ends, func(t *testing.T) {
				t.Parallel()
				w := dieInACall(t, func(string) error { return nil })
				dir := filepath.Join(t.TempDir(), "transactions")
				tt.end(t, viewed(t, transaction.Open(dir), w.dir, "call_1_1", tt.outside...))
				w.Commands = transaction.Open(dir)
				if tt.checkpoint {
					w.Checkpoint = func(context.Context, pawl.SessionID, string) error { return nil }
				}
				resume(t, w, ends)
				got := w.results()[0]
				check(t, tt.status, got.Status)
				for _, text := range tt.want {
					if !strings.Contains(got.Result.Content, text) {
						t.Errorf("%q is not in %s", text, got.Result.Content)
					}
				}
				for _, text := range tt.not {
					if strings.Contains(got.Result.Content, text) {
						t.Errorf("%q is in %s", text, got.Result.Content)
					}
				}
				check(t, tt.applied, len(got.Result.Changed) == 1 && len(got.Result.Refused) == 1)
				if entries, err := os.ReadDir(filepath.Join(dir, "calls")); err != nil || len(entries) > 0 {
					t.Errorf("the call has its result, and there are still %v, %v", entries, err)
				}
				check(t, "", w.order(pawl.Undo{}).Refused)
				check(t, map[string]string{"a": "-rw-r--r-- before\n"}, w.show())
			})
		}
	}
}

// resume lets a turn go on, or cancels it.
func resume(t *testing.T, w *testEnv, ends string) {
	t.Helper()
	if ends == "goes on" {
		w.mustTurn(pawl.ReasonEndTurn)
		return
	}
	turn, _, err := w.Begin(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), turn, Stop{Reason: pawl.ReasonCanceled}); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptedCommandSurvivesCrash: the outcome of a command is kept until the log has the result.
func TestInterruptedCommandSurvivesCrash(t *testing.T) {
	t.Parallel()
	w := dieInACall(t, func(string) error { return nil })
	dir := filepath.Join(t.TempDir(), "transactions")
	viewed(t, transaction.Open(dir), w.dir, "call_1_1").Close()
	for range 2 {
		w.Commands = transaction.Open(dir)
		crashed := errors.New("crash")
		w.Checkpoint = func(context.Context, pawl.SessionID, string) error { return crashed } // after the result is known, before it is logged
		if _, err := w.turn(t.Context()); !errors.Is(err, crashed) {
			t.Fatal(err)
		}
		check(t, 0, len(w.results()))
		w.Stepper = NewStepper(w.Config)
	}
	w.Checkpoint = nil
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, pawl.CallCanceled, w.results()[0].Status)
}

// TestInterruptedShellIsKnown: the same holds for a command of the user.
func TestInterruptedShellIsKnown(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	dir := filepath.Join(t.TempDir(), "transactions")
	asked := w.append(pawl.ShellAsked{Command: "make"})
	w.append(pawl.ShellStarted{Asked: asked})
	viewed(t, transaction.Open(dir), w.dir, asked.ShellCall()).Close()
	w.Commands = transaction.Open(dir)
	if _, _, err := w.Begin(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	ran := w.bodies(pawl.ShellRan{})
	check(t, 1, len(ran))
	got := ran[0].(pawl.ShellRan)
	check(t, pawl.CallCanceled, got.Status)
	if !strings.Contains(got.Result.Content, "None of its changes to the workspace were applied") {
		t.Errorf("it says %q", got.Result.Content)
	}
}
