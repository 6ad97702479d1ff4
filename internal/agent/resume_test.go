package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// heads notes where the log can end after a crash: an append is whole or not at all.
type heads struct {
	store.Store
	mu    sync.Mutex
	after []pawl.Seq
}

func (s *heads) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := s.Store.Append(ctx, id, after, events...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && id == session {
		s.after = append(s.after, stored[len(stored)-1].Seq)
	}
	return stored, err
}

// effects are two tools, one that reads and one that acts, and how often each call ran.
type effects struct {
	mu   sync.Mutex
	runs map[pawl.CallID]int
}

func (e *effects) tools() []toolapi.Tool {
	run := func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.runs[c.ID]++
		return pawl.Result{Content: "done " + string(c.ID)}, nil
	}
	return []toolapi.Tool{newTool("look", pawl.AccessRead, run), newTool("act", pawl.AccessWrite, run)}
}

var resumeScript = []string{
	`{"reasoning":"hm","text":"I look.","calls":[{"name":"look"},{"name":"look"},{"name":"act"},{"name":"nope"},{"name":"act"},{"name":"look"}],"usage":{"input":10}}`,
	`{"calls":[{"name":"act"}],"usage":{"input":20}}`,
	`{"text":"Done.","usage":{"input":30}}`,
	`{"text":"That too.","usage":{"input":35}}`,
	`{"calls":[{"name":"act"}],"usage":{"input":40}}`,
	`{"text":"That is all.","calls":[{"name":"act"}],"usage":{"input":50}}`,
}

// However much of the log a crash leaves, going on from there gives the same
// log: nothing is asked or done twice. The exception is the call that was
// running and may have had its effect: its outcome is unknown.
func TestResumeFromEveryPoint(t *testing.T) {
	t.Parallel()
	original := &effects{runs: map[pawl.CallID]int{}}
	w := newEnv(t, setup{
		script: resumeScript, tools: original.tools(),
		store: func(st store.Store) store.Store { return &heads{Store: st} },
	})
	w.prompt("go")
	w.prompt("later", queue, maxSteps(2))
	begins := w.prompt("this way", steer)
	w.model.begins = steerLate(t, w.Store)
	w.mustTurn(pawl.ReasonEndTurn)
	w.mustTurn(pawl.ReasonMaxSteps)
	want := inOrder(w.events())
	unknown := map[pawl.CallID]bool{}

	for _, head := range w.Store.(*heads).after {
		if head < begins {
			continue
		}
		t.Run(fmt.Sprint(head), func(t *testing.T) {
			id := pawl.SessionID(fmt.Sprintf("01JD00000000000000000001%02d", head))
			again := &effects{runs: map[pawl.CallID]int{}}
			model := &recorder{Model: w.model.Model, begins: steerLate(t, w.Store)}
			prefix := w.events()[:head]
			resumeCopy(t, w.Store, id, prefix, again.tools(), model)

			wantCopy := slices.Clone(want)
			state := stateOf(prefix)
			for i, e := range wantCopy {
				wantCopy[i].Session = id
				f, ok := e.Body.(pawl.CallFinished)
				if ok && state.started[f.Call] && !state.finished[f.Call] && !state.readOnly[f.Call] {
					wantCopy[i].Body = unknownResult(f.Call)
					unknown[f.Call] = true
				}
			}
			var got []pawl.Event
			for e, err := range w.Store.Events(t.Context(), id, 0) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			check(t, wantCopy, inOrder(got))

			for call := range original.runs {
				runs := 1
				if state.finished[call] || state.started[call] && !state.readOnly[call] {
					runs = 0
				}
				if again.runs[call] != runs {
					t.Errorf("call %s ran %d times after the crash, want %d", call, again.runs[call], runs)
				}
			}
			check(t, len(resumeScript)-state.replies, len(model.requests))
		})
	}
	check(t, map[pawl.CallID]bool{"call_1_3": true, "call_1_5": true, "call_2_1": true, "call_5_1": true}, unknown)
}

// steerLate is the person who has one more wish while the model says that it is
// done. If the log holds it, it was said.
func steerLate(t *testing.T, st store.Store) func(model.Request) {
	return func(r model.Request) {
		if r.Replies != 2 {
			return
		}
		wish := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "one more thing"}}, Delivery: pawl.DeliverSteer, Settings: pawl.Settings{Model: modelRef}}
		var head pawl.Seq
		for e, err := range st.Events(t.Context(), r.Session, 0) {
			if err != nil {
				t.Fatal(err)
			}
			head = e.Seq
			if cmp.Equal(pawl.Body(wish), e.Body) {
				return
			}
		}
		if _, err := st.Append(t.Context(), r.Session, head, pawl.Event{At: noon, Body: wish}); err != nil {
			t.Error(err)
		}
	}
}

// resumeCopy makes a session of the events and does all that it has to do.
func resumeCopy(t *testing.T, st store.Store, id pawl.SessionID, events []pawl.Event, tools []toolapi.Tool, m model.Model) {
	t.Helper()
	if _, err := st.Append(t.Context(), id, 0, events...); err != nil {
		t.Fatal(err)
	}
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	w := NewStepper(Config{
		Store: st, Bus: bus.New(st, bus.Config{}), Tools: registry, Authority: harness.NewAuthority(t), Clock: func() time.Time { return noon },
		Model: func(string) (model.Model, error) { return m, nil },
	})
	for {
		turn, ok, err := w.Begin(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		reason, err := Run(t.Context(), w, turn)
		stop, err := StopOf(reason, err)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(t.Context(), turn, stop); err != nil {
			t.Fatal(err)
		}
	}
}

// inOrder sorts the ends of calls that ran beside each other.
func inOrder(events []pawl.Event) []pawl.Event {
	events = slices.Clone(events)
	for i := range events {
		for j := i; j > 0; j-- {
			a, aOK := events[j-1].Body.(pawl.CallFinished)
			b, bOK := events[j].Body.(pawl.CallFinished)
			if !aOK || !bOK || a.Call < b.Call {
				break
			}
			events[j-1].Body, events[j].Body = b, a
		}
	}
	return events
}

// logState is how far the calls of a log have come.
type logState struct {
	started, finished, readOnly map[pawl.CallID]bool
	replies                     int
}

func stateOf(events []pawl.Event) logState {
	s := logState{map[pawl.CallID]bool{}, map[pawl.CallID]bool{}, map[pawl.CallID]bool{}, 0}
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.CallStarted:
			s.started[b.Call], s.readOnly[b.Call] = true, b.ReadOnly
		case pawl.CallFinished:
			s.finished[b.Call] = true
		case pawl.Replied:
			s.replies++
		default:
		}
	}
	return s
}

// A pawl that lacks a tool goes on with the session of one that had it.
func TestResumeWithoutTheTool(t *testing.T) {
	t.Parallel()
	original := &effects{runs: map[pawl.CallID]int{}}
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"act"},{"name":"act"}]}`, `{"text":"Ok."}`}, tools: original.tools()})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	started := slices.IndexFunc(w.events(), func(e pawl.Event) bool { return pawl.KindOf(e.Body) == "call.started" })

	id := pawl.SessionID("01JD0000000000000000000002")
	resumeCopy(t, w.Store, id, w.events()[:started+1], []toolapi.Tool{toolText("other", pawl.AccessRead, "")}, w.model)
	var got []pawl.CallFinished
	for e, err := range w.Store.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := e.Body.(pawl.CallFinished); ok {
			got = append(got, f)
		}
	}
	check(t, []pawl.CallFinished{
		unknownResult("call_1_1"),
		{Call: "call_1_2", Status: pawl.CallRefused, Result: toolapi.ErrorResult(`there is no tool "act"; there are: other`)},
	}, got)
}

// What a small session looks like in the log.
func TestGoldenSession(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{
		`{"reasoning":"First look.","text":"I will fix it.","calls":[{"name":"read","input":{"path":"README.md"}},{"name":"list"}],"usage":{"input":1200,"output":40,"cost":5000}}`,
		`{"calls":[{"name":"edit","input":{"path":"README.md","old":"pwal","new":"pawl"}},{"name":"delete","input":{"path":"/"}}],"usage":{"input":1300,"output":30,"cost":6000}}`,
		`{"text":"Fixed the typo.","usage":{"input":1400,"output":10,"cost":7000}}`,
		`{"text":"You are welcome."}`,
	}})
	if err := os.WriteFile(filepath.Join(w.dir, "README.md"), []byte("the pwal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.append(pawl.SessionTitled{Title: "Typo"})
	w.prompt("fix the typo")
	w.model.begins = func(r model.Request) {
		if r.Replies == 1 {
			w.prompt("and nothing else", steer)
		}
	}
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("thank you", maxSteps(1))
	w.mustTurn(pawl.ReasonMaxSteps)

	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	for _, e := range inOrder(w.events()) {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ReplaceAll(got.String(), w.dir, "/project")
	golden := filepath.Join("testdata", "session.golden.jsonl")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("run with -update if this is meant, and mind that logs of today must stay readable: %s", diff)
	}
}

// twice takes every step twice, as an engine does that lost the first answer.
type twice struct{ s *Stepper }

func (w twice) Prepare(ctx context.Context, t Turn) error {
	_ = w.s.Prepare(ctx, t)
	return w.s.Prepare(ctx, t)
}

func (w twice) Generate(ctx context.Context, t Turn) (Reply, error) {
	_, _ = w.s.Generate(ctx, t)
	return w.s.Generate(ctx, t)
}

func (w twice) Authorize(ctx context.Context, t Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	_, _ = w.s.Authorize(ctx, t, ids)
	return w.s.Authorize(ctx, t, ids)
}

func (w twice) Execute(ctx context.Context, t Turn, ids []pawl.CallID) error {
	_ = w.s.Execute(ctx, t, ids)
	return w.s.Execute(ctx, t, ids)
}

func (w twice) Settle(ctx context.Context, t Turn) (bool, error) {
	_, _ = w.s.Settle(ctx, t)
	return w.s.Settle(ctx, t)
}

func TestEveryStepTwice(t *testing.T) {
	t.Parallel()
	var logs [2][]pawl.Event
	var did [2]*effects
	for i := range logs {
		did[i] = &effects{runs: map[pawl.CallID]int{}}
		w := newEnv(t, setup{script: resumeScript, tools: did[i].tools()})
		w.prompt("go")
		w.prompt("later", queue, maxSteps(2))
		w.prompt("this way", steer)
		for range 2 {
			turn, _, err := w.Begin(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			var steps Steps[context.Context] = w.Stepper
			if i == 1 {
				steps = twice{w.Stepper}
			}
			reason, err := Run(t.Context(), steps, turn)
			if err != nil {
				t.Fatal(err)
			}
			for range i + 1 {
				if err := w.Finish(t.Context(), turn, Stop{Reason: reason}); err != nil {
					t.Fatal(err)
				}
			}
		}
		logs[i] = inOrder(w.events())
		logs[i][0].Body = pawl.SessionCreated{} // each has a directory of its own
	}
	check(t, logs[0], logs[1])
	check(t, did[0].runs, did[1].runs)
}
