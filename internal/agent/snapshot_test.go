package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// Calls that may change the workspace have a snapshot before and after, whatever
// comes of them; others have none.
func TestSnapshotsOfCalls(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{
		`{"calls":[` + bash("printf 1 > a") + `,{"name":"list"},` + bash("exit 1") + `,{"name":"write","input":{"path":"/nowhere/else","content":""}},` + bash("printf 2 > a; exit 1") + `]}`,
		`{"text":"Ok."}`,
	}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	type pair struct{ Before, After string }
	pairs := map[pawl.CallID]pair{}
	for _, b := range w.bodies(pawl.CallStarted{}, pawl.CallFinished{}) {
		switch b := b.(type) {
		case pawl.CallStarted:
			check(t, "", b.Unsafe)
			pairs[b.Call] = pair{Before: b.Snapshot}
		case pawl.CallFinished:
			p := pairs[b.Call]
			p.After = b.Snapshot
			pairs[b.Call] = p
		default:
		}
	}
	check(t, pair{}, pairs["call_1_2"]) // it only reads
	for _, id := range []pawl.CallID{"call_1_1", "call_1_3", "call_1_5"} {
		if p := pairs[id]; p.Before == "" || p.After == "" {
			t.Errorf("%s has no snapshots: %+v", id, p)
		}
	}
	check(t, pairs["call_1_1"].After, pairs["call_1_3"].Before)
	check(t, pairs["call_1_3"].Before, pairs["call_1_3"].After) // it failed and changed nothing
	if p := pairs["call_1_5"]; p.Before == p.After {
		t.Error("what a failed call changed is not seen")
	}
}

// stuck is a tool that changes a file and then waits for the end.
func stuck(t *testing.T, began chan<- struct{}, change func(dir string) error) toolapi.Tool {
	return newTool("act", pawl.AccessWrite, func(ctx context.Context, c toolapi.Call) (pawl.Result, error) {
		if err := change(c.Dir); err != nil {
			t.Error(err)
		}
		began <- struct{}{}
		<-ctx.Done()
		return pawl.Result{}, ctx.Err()
	})
}

func writes(name, text string) func(dir string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

// What a canceled call did until then can be undone.
func TestSnapshotOfACanceledCall(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	w := newUndoEnv(t, setup{script: []string{`{"calls":[{"name":"act"}]}`}, tools: []toolapi.Tool{stuck(t, began, writes("a", "half"))}})
	w.prompt("go")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if stop, err := w.turn(ctx); err != nil || stop.Reason != pawl.ReasonCanceled {
		t.Fatalf("got %v, %v", stop, err)
	}
	check(t, []pawl.CallStatus{pawl.CallCanceled}, []pawl.CallStatus{w.results()[0].Status})
	check(t, []string{"a"}, w.order(pawl.Undo{}).Changed)
	check(t, map[string]string{}, w.show())
}

// dieInACall has pawl die while a call runs that makes a change, and returns the
// session as the next process finds it.
func dieInACall(t *testing.T, change func(dir string) error) *testEnv {
	t.Helper()
	began := make(chan struct{}, 1)
	w := newUndoEnv(t, setup{script: []string{`{"calls":[{"name":"act"}]}`, `{"text":"Ok."}`}, tools: []toolapi.Tool{stuck(t, began, change)}})
	w.write("a", "before\n")
	w.prompt("go")
	ctx, die := context.WithCancelCause(t.Context())
	go func() {
		<-began
		die(errors.New("shutting down"))
	}()
	if _, err := w.turn(ctx); err == nil {
		t.Fatal("the turn came to an end")
	}
	check(t, 0, len(w.results()))
	w.Stepper = NewStepper(w.Config)
	return w
}

// A call that was running when pawl died comes with what has changed since, and
// can be undone.
func TestUnknownOutcomeShowsWhatChanged(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	for _, tt := range []struct {
		name     string
		change   func(dir string) error
		meantime func(w *testEnv)
		want     []string
		not      []string
		canUndo  bool
	}{
		{
			name: "a change", change: writes("a", "after "+secret+" \U000e0041hidden\n"),
			want: []string{"-before\n", "+after ", "hidden", "since it started"}, not: []string{secret, "\U000e0041"}, canUndo: true,
		},
		{
			name: "a large one", change: writes("a", strings.Repeat("line\n", 10000)),
			want: []string{"+line\n", "truncated after"}, not: []string{strings.Repeat("+line\n", 2000)}, canUndo: true,
		},
		{
			name: "one that may not be read", change: func(dir string) error {
				return errors.Join(writes("a", "after\n")(dir), writes("hidden.txt", "not for the model\n")(dir))
			},
			meantime: func(w *testEnv) {
				rule := permission.Rule{Kind: pawl.AccessRead, Pattern: "hidden*", Decision: permission.Deny}
				w.Authority.(*harness.Authority).Rule(rule)
			},
			want: []string{"+after\n", "1 changed files are not shown"}, not: []string{"not for the model"}, canUndo: true,
		},
		{name: "no change", change: func(string) error { return nil }, want: []string{"Nothing in the workspace has changed"}, canUndo: true},
		{
			name: "the snapshots are gone", change: writes("a", "after\n"),
			meantime: func(w *testEnv) {
				if err := os.RemoveAll(w.Snapshots.(*snapshot.Store).Dir); err != nil {
					w.t.Fatal(err)
				}
			},
			want: []string{"cannot be determined"}, not: []string{"-before"},
		},
	} {
		for _, ends := range []string{"goes on", "is canceled"} {
			t.Run(tt.name+", then it "+ends, func(t *testing.T) {
				w := dieInACall(t, tt.change)
				if tt.meantime != nil {
					tt.meantime(w)
				}
				if ends == "goes on" {
					w.mustTurn(pawl.ReasonEndTurn)
				} else {
					turn, _, err := w.Begin(t.Context(), session)
					if err != nil {
						t.Fatal(err)
					}
					if err := w.Finish(t.Context(), turn, Stop{Reason: pawl.ReasonCanceled}); err != nil {
						t.Fatal(err)
					}
				}
				got := w.results()[0]
				check(t, pawl.CallUnknown, got.Status)
				content := got.Result.Content
				if !strings.HasPrefix(content, unknownResult("").Result.Content) || len(content) > maxInterruptedDiff+1000 {
					t.Errorf("got %d bytes: %s", len(content), content)
				}
				for _, text := range tt.want {
					if !strings.Contains(content, text) {
						t.Errorf("%q is not in %s", text, content)
					}
				}
				for _, text := range tt.not {
					if strings.Contains(content, text) {
						t.Errorf("%q is in %s", text, content)
					}
				}
				if !tt.canUndo {
					return
				}
				check(t, "", w.order(pawl.Undo{}).Refused)
				check(t, map[string]string{"a": "-rw-r--r-- before\n"}, w.show())
			})
		}
	}
}

// counting counts how often a snapshot is tried.
type counting struct {
	*snapshot.Store
	mu    sync.Mutex
	taken int
}

func (c *counting) Take(ctx context.Context, dir string, owner pawl.SessionID) (snapshot.ID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken++
	return c.Store.Take(ctx, dir, owner)
}

// In a directory that is too large calls run without a way back, which is said, and
// is not found out again for each of them.
func TestFolderThatIsTooLarge(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{
		`{"calls":[` + bash("printf 1 > x") + `,` + bash("printf 2 > x") + `]}`, `{"text":"Ok."}`, `{"calls":[` + bash("rm ?; printf 3 > x") + `]}`, `{"text":"Ok."}`,
	}})
	for i := range 5 {
		w.write(fmt.Sprint(i), "")
	}
	snapshots := &counting{Store: withSnapshots(t, w, snapshot.Config{MaxFiles: 3})}
	w.Snapshots = snapshots
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, 1, snapshots.taken)
	for _, b := range w.bodies(pawl.CallStarted{}) {
		started := b.(pawl.CallStarted)
		if started.Snapshot != "" || !strings.Contains(started.Unsafe, "too large") {
			t.Errorf("got %+v", started)
		}
	}
	check(t, "-rw-r--r-- 2", w.show()["x"])
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pawl.UndoPlan{
		Undo: pawl.Undo{To: w.newest(pawl.TurnStarted{})}, Prompt: pawl.Parts{pawl.Text{Text: "go"}}, Messages: 3, Blind: []pawl.CallID{"call_1_1", "call_1_2"},
	}, plan)
	w.order(pawl.Undo{})
	check(t, "-rw-r--r-- 2", w.show()["x"])
	check(t, 0, len(w.talk()))

	later := w.Clock().Add(tooLargeFor)
	w.Clock = func() time.Time { return later }
	w.prompt("again")
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, 2, snapshots.taken) // it is tried again after a while
}

// Without a way to read snapshots the files do not go back, and nothing does
// that should go back with them.
func TestUndoWithoutSnapshots(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lose func(w *testEnv)
		want string
	}{
		{"git is gone", func(w *testEnv) { w.Snapshots = nil }, "checkpoints need git"},
		{"they were cleaned up", func(w *testEnv) {
			if err := os.RemoveAll(w.Snapshots.(*snapshot.Store).Dir); err != nil {
				w.t.Fatal(err)
			}
		}, "was deleted to free space"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newUndoEnv(t, setup{script: []string{`{"calls":[` + bash("printf 1 > a") + `]}`, `{"text":"Ok."}`}})
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			talk := w.talk()
			tt.lose(w)
			_, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
			if !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got %v", err)
			}
			w.append(pawl.UndoAsked{Undo: pawl.Undo{To: w.newest(pawl.TurnStarted{})}})
			if done := w.carriedOut(); !strings.Contains(done.Refused, tt.want) {
				t.Errorf("got %+v", done)
			}
			check(t, talk, w.talk())
			check(t, map[string]string{"a": "-rw-r--r-- 1"}, w.show())
			w.order(pawl.Undo{Scope: pawl.ScopeConversation})
			check(t, 0, len(w.talk()))
			check(t, map[string]string{"a": "-rw-r--r-- 1"}, w.show())
		})
	}
}

// endsIn is a store of snapshots that is at work when the process shuts down.
type endsIn struct {
	*snapshot.Store
	die context.CancelCauseFunc
}

func (e *endsIn) Apply(ctx context.Context, plan snapshot.Plan, how snapshot.Conflicts) (snapshot.Report, error) {
	e.die(errors.New("shutting down"))
	return e.Store.Apply(ctx, plan, how)
}

// An undo that the process does not live to end stays ordered.
func TestUndoTakenAway(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{`{"calls":[` + bash("printf 1 > a") + `]}`, `{"text":"Ok."}`}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	w.append(pawl.UndoAsked{Undo: pawl.Undo{To: w.newest(pawl.TurnStarted{})}})
	ctx, die := context.WithCancelCause(t.Context())
	snapshots := w.Snapshots.(*snapshot.Store)
	w.Snapshots = &endsIn{snapshots, die}
	if _, _, err := w.Begin(ctx, session); err == nil {
		t.Error("no error")
	}
	check(t, 0, len(w.bodies(pawl.Undone{})))
	w.Snapshots = snapshots
	check(t, []string{"a"}, w.carriedOut().Changed)
	check(t, map[string]string{}, w.show())
}

// A clock that is set back does not turn the order of what was done around.
func TestUndoWithAClockSetBack(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{
		`{"calls":[` + bash("printf 1 > a") + `]}`, `{"calls":[` + bash("printf 2 > a") + `]}`, `{"text":"Ok."}`,
	}})
	now := noon
	w.Clock = func() time.Time {
		now = now.Add(-time.Minute)
		return now
	}
	w.write("a", "0")
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, "", w.order(pawl.Undo{}).Refused)
	check(t, map[string]string{"a": "-rw-r--r-- 0"}, w.show())
}
