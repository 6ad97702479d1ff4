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
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// diary notes what is done with the calls, in order: A when one is asked what it
// would touch, R when it runs.
type diary struct {
	mu    sync.Mutex
	notes []string
}

func (d *diary) note(what string, c toolapi.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, what+strings.TrimPrefix(string(c.ID), "call_1_"))
}

func (d *diary) tool(name string, kind pawl.AccessKind, run func(toolapi.Call)) toolapi.Tool {
	t := newTool(name, kind, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
		d.note("R", c)
		if run != nil {
			run(c)
		}
		return pawl.Result{Content: "done"}, nil
	})
	access := t.Access
	t.Access = func(ctx context.Context, c toolapi.Call) ([]pawl.Access, error) {
		d.note("A", c)
		return access(ctx, c)
	}
	return t
}

func (w *testEnv) authority() *harness.Authority { return w.Authority.(*harness.Authority) }

func inMode(mode string) func(*pawl.Prompted) { return func(p *pawl.Prompted) { p.Mode = mode } }

// answerAll answers whatever is asked, as long as the test runs.
func (w *testEnv) answerAll(ctx context.Context, a pawl.Answer) {
	for e, err := range w.bus.Events(ctx, session, 0) {
		if err != nil {
			return
		}
		if _, ok := e.Body.(pawl.Asked); ok {
			w.append(pawl.Answered{Ask: e.Seq, Answer: a})
		}
	}
}

// TestNoAuthorityAllowsNothing checks that every call is denied, in any mode, if there is no authority, if it fails,
// or if the mode is unknown.
func TestNoAuthorityAllowsNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testEnv){
		"none":                func(w *testEnv) { w.Authority = nil },
		"one that cannot say": func(w *testEnv) { w.authority().Fail(errors.New("the configuration is broken")) },
		"a mode from beyond":  func(*testEnv) {},
	} {
		t.Run(name, func(t *testing.T) {
			var d diary
			w := newEnv(t, setup{
				tools:  []toolapi.Tool{d.tool("look", pawl.AccessRead, nil), d.tool("act", pawl.AccessWrite, nil)},
				script: []string{`{"calls":[{"name":"look"},{"name":"act"}]}`, `{"expect":"^not permitted","text":"Ok."}`},
			})
			change(w)
			mode := "yolo"
			if name == "a mode from beyond" {
				mode = "more"
			}
			w.prompt("go", inMode(mode))
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, 2, len(w.results()))
			for _, f := range w.results() {
				check(t, pawl.CallDenied, f.Status)
			}
			check(t, nil, d.notes)
		})
	}
}

// Calls are put to a person one after the other, in their order, and none runs
// before all were decided on.
func TestAskingInOrder(t *testing.T) {
	t.Parallel()
	var d diary
	w := newEnv(t, setup{
		tools:  []toolapi.Tool{d.tool("look", pawl.AccessRead, nil), d.tool("act", pawl.AccessWrite, nil)},
		script: []string{`{"calls":[{"name":"act"},{"name":"look"},{"name":"act"},{"name":"nope"},{"name":"act"}]}`, `{"text":"Ok."}`},
	})
	w.prompt("go", inMode("ask"))
	go w.answerAll(t.Context(), pawl.Answer{Outcome: pawl.OutcomeAnswered})
	w.mustTurn(pawl.ReasonEndTurn)
	var got []string
	for _, e := range w.events() {
		switch b := e.Body.(type) {
		case pawl.Asked:
			got = append(got, "asked "+string(b.Call))
		case pawl.Answered:
			got = append(got, "answered")
		case pawl.CallStarted:
			got = append(got, "started "+string(b.Call))
		case pawl.CallFinished:
			got = append(got, string(b.Status)+" "+string(b.Call))
		default: // not about calls
		}
	}
	check(t, []string{
		"asked call_1_1", "answered", "asked call_1_3", "answered", "refused call_1_4", "asked call_1_5", "answered",
		"started call_1_1", "done call_1_1", "started call_1_2", "done call_1_2",
		"started call_1_3", "done call_1_3", "started call_1_5", "done call_1_5",
	}, got)
}

// Each call is looked at anew just before it runs, when those before it have
// run; those that only read, together.
func TestEachCallIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		calls string
		want  string // in Execute
		last  pawl.CallStatus
	}{
		{"ww", "A1 R1 A2", pawl.CallDenied},
		{"wr", "A1 R1 A2", pawl.CallDenied},
		{"rw", "A1 A2 R1 A2 R2", pawl.CallDone}, // to find out that it does not only read
		{"wwr", "A1 R1 A2 A3", pawl.CallDenied},
	} {
		t.Run(test.calls, func(t *testing.T) {
			var d diary
			var w *testEnv
			forbid := func(toolapi.Call) {
				w.authority().Rule(permission.Rule{Kind: pawl.AccessRead, Decision: permission.Deny}, permission.Rule{Kind: pawl.AccessWrite, Decision: permission.Deny})
			}
			w = newEnv(t, setup{
				tools:  []toolapi.Tool{d.tool("r", pawl.AccessRead, nil), d.tool("w", pawl.AccessWrite, forbid)},
				script: []string{callLine(test.calls), `{"text":"Ok."}`},
			})
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, test.want, strings.Join(d.notes[len(test.calls):], " "))
			results := w.results()
			check(t, test.last, results[len(results)-1].Status)
		})
	}
}

// A call that only reads runs again after a crash, but not if it is denied by then.
func TestDeniedBeforeItRunsAgain(t *testing.T) {
	t.Parallel()
	var d diary
	w := newEnv(t, setup{tools: []toolapi.Tool{d.tool("look", pawl.AccessRead, nil)}, script: []string{`{"text":"x"}`, `{"text":"Ok."}`}})
	w.prompt("go")
	w.append(pawl.TurnStarted{Prompt: 2})
	w.append(pawl.ReplyStarted{Step: 1, Model: modelRef}, pawl.Replied{
		Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{pawl.ToolCall{ID: "call_1_1", Name: "look", Input: []byte("{}")}},
	}, pawl.CallStarted{Call: "call_1_1", Tool: "look", ReadOnly: true, Access: []pawl.Access{{Kind: pawl.AccessRead, Target: "call_1_1"}}})
	w.authority().Rule(permission.Rule{Kind: pawl.AccessRead, Decision: permission.Deny})
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []pawl.CallFinished{unknownResult("call_1_1")}, w.results())
	if strings.Contains(strings.Join(d.notes, " "), "R") {
		t.Errorf("it ran again: %v", d.notes)
	}
}

// askedTurn is an environment whose log ends with the ask for a call of act.
func askedTurn(t *testing.T, d *diary) (*testEnv, Turn) {
	t.Helper()
	w := newEnv(t, setup{tools: []toolapi.Tool{d.tool("act", pawl.AccessWrite, nil)}, script: []string{`{"calls":[{"name":"act"}]}`, `{"text":"Ok."}`}})
	w.prompt("go", inMode("ask"))
	ctx, end := context.WithCancelCause(t.Context())
	go func() {
		for e := range w.bus.Events(ctx, session, 0) {
			if _, ok := e.Body.(pawl.Asked); ok {
				end(errTaken)
			}
		}
	}()
	if _, err := w.turn(ctx); !errors.Is(err, errTaken) {
		t.Fatalf("got %v, want the cause", err)
	}
	turn, ok, err := w.Begin(t.Context(), session)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	turn.Step = 1
	return w, turn
}

var errTaken = errors.New("the process is shutting down")

// When the work is taken away while a person is asked, the ask stays open.
func TestTakenAwayWhileAsked(t *testing.T) {
	t.Parallel()
	var d diary
	w, _ := askedTurn(t, &d)
	check(t, 1, len(w.bodies(pawl.Asked{}, pawl.Answered{}, pawl.CallFinished{}, pawl.TurnFinished{})))
	go w.answerAll(t.Context(), pawl.Answer{Outcome: pawl.OutcomeAnswered})
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, 1, len(w.bodies(pawl.Asked{})))
	check(t, pawl.CallDone, w.results()[0].Status)
}

// What was put to a person waits for them, even if a rule allows it by then:
// they may be about to deny it.
func TestAnAskIsWaitedFor(t *testing.T) {
	t.Parallel()
	var d diary
	w, turn := askedTurn(t, &d)
	w.authority().Rule(permission.Rule{Kind: pawl.AccessWrite, Pattern: "call_1_1", Decision: permission.Allow})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errTaken)
	defer cancel()
	if permitted, err := w.Authorize(ctx, turn, []pawl.CallID{"call_1_1"}); !errors.Is(err, errTaken) {
		t.Errorf("permitted %v, %v: nobody has answered", permitted, err)
	}
	// Not so if it is denied by then: nobody needs to answer.
	w.authority().Rule(permission.Rule{Kind: pawl.AccessWrite, Decision: permission.Deny})
	permitted, err := w.Authorize(t.Context(), turn, []pawl.CallID{"call_1_1"})
	check(t, nil, permitted)
	check(t, nil, err)
	answers := w.bodies(pawl.Answered{})
	check(t, 1, len(answers))
	check(t, pawl.OutcomeCanceled, answers[0].(pawl.Answered).Outcome)
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, pawl.CallDenied, w.results()[0].Status)
}

// TestDeniedFromEveryPoint checks that a turn that a user ended with a denial gives the same log when it is resumed
// after a crash at any point.
func TestDeniedFromEveryPoint(t *testing.T) {
	t.Parallel()
	original := &effects{runs: map[pawl.CallID]int{}}
	const script = `{"calls":[{"name":"look"},{"name":"act"},{"name":"look"}]}`
	w := newEnv(t, setup{
		script: []string{script, `{"text":"Went on."}`}, tools: original.tools(),
		store: func(st store.Store) store.Store { return &heads{Store: st} },
	})
	begins := w.prompt("go", inMode("ask"))
	go w.answerAll(t.Context(), pawl.Answer{Outcome: pawl.OutcomeDenied})
	w.mustTurn(pawl.ReasonPermissionDenied)
	want := w.events()
	answered := false
	for i, head := range w.Store.(*heads).after {
		if head < begins {
			continue
		}
		if answered = answered || pawl.KindOf(want[head-1].Body) == "answered"; !answered {
			continue // who would answer?
		}
		id := pawl.SessionID(fmt.Sprintf("01JD00000000000000000002%02d", i))
		again := &effects{runs: map[pawl.CallID]int{}}
		resumeCopy(t, w.Store, id, want[:head], again.tools(), w.model)
		var got []pawl.Event
		for e, err := range w.Store.Events(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			e.Session = session
			got = append(got, e)
		}
		check(t, want, got)
		check(t, 0, len(again.runs))
	}
	check(t, 0, len(original.runs))
	if !answered {
		t.Error("nothing was answered")
	}
}

// A call that looks into many files is informed which it may read: not those that would
// be asked for, by whatever link they are reached.
func TestReads(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	var got []bool
	look := newTool("look", pawl.AccessRead, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
		for _, path := range []string{"a.txt", ".env", "sub/.env", "link", "sub/b.txt", "away", "missing"} {
			got = append(got, c.Reads(path))
		}
		return pawl.Result{}, nil
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{look}, script: []string{`{"calls":[{"name":"look"}]}`, `{"text":"Ok."}`}})
	w.authority().Rule(
		permission.Rule{Kind: pawl.AccessRead, Pattern: "**/.env", Decision: permission.Ask},
		permission.Rule{Kind: pawl.AccessRead, Pattern: "sub/b.txt", Decision: permission.Deny},
	)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(w.dir, "sub"), 0o700))
	for _, name := range []string{"a.txt", ".env", "sub/.env", "sub/b.txt"} {
		must(os.WriteFile(filepath.Join(w.dir, name), nil, 0o600))
	}
	must(os.Symlink(".env", filepath.Join(w.dir, "link")))
	must(os.Symlink(filepath.Join(outside, "x"), filepath.Join(w.dir, "away")))
	w.prompt("go", inMode("guard"))
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []bool{true, false, false, false, false, false, true}, got)
}
