package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// What the scripts of these tests say, over and over.
const (
	looks   = `{"calls":[{"name":"look"}],"usage":{"input":1}}`
	acts    = `{"calls":[{"name":"act"}]}`
	wraps   = `{"text":"Done."}`
	repeats = "You have made the same call (look) 3 times in a row, and each time it had the same result. " +
		"Repeating it will change nothing. Try another approach or, if none is left, say what blocks you and stop."
	report = "the model is repeating itself: the same call (look) 3 times in a row, each time with the same result"
)

func times(n int, lines ...string) []string { return slices.Repeat(lines, n) }

// blind are tools that never tell anything new.
func blind() []toolapi.Tool {
	return []toolapi.Tool{toolText("look", pawl.AccessRead, "nothing"), toolText("act", pawl.AccessRead, "nothing")}
}

// loopMessages returns the messages to the model about its loops.
func (w *testEnv) loopMessages() []string {
	w.t.Helper()
	var texts []string
	for _, b := range w.bodies(pawl.Injected{}) {
		if i := b.(pawl.Injected); i.Source == "loop" {
			texts = append(texts, i.Text)
		}
	}
	return texts
}

func TestCircles(t *testing.T) {
	t.Parallel()
	babble := fmt.Sprintf(`{"text":%q,"calls":[{"name":"look"}]}`, strings.Repeat("I will look at it now. ", 100))
	calls := 0
	counts := newTool("look", pawl.AccessRead, func(context.Context, toolapi.Call) (pawl.Result, error) {
		calls++
		return pawl.Result{Content: fmt.Sprintf("%d tests fail", calls)}, nil
	})
	const cycle = "You have repeated the same 2 steps 5 times, each time with the same results. "
	for name, tt := range map[string]struct {
		script []string
		tools  []toolapi.Tool
		want   []string // how the words begin
	}{
		"twice is no circle":     {slices.Concat(times(2, looks), times(1, wraps)), blind(), nil},
		"the same call":          {slices.Concat(times(3, looks), times(1, wraps)), blind(), []string{repeats}},
		"once a finding":         {slices.Concat(times(5, looks), times(1, wraps)), blind(), []string{repeats}},
		"four rounds":            {slices.Concat(times(4, looks, acts), times(1, wraps)), blind(), nil},
		"five rounds":            {slices.Concat(times(5, looks, acts), times(1, wraps)), blind(), []string{cycle}},
		"a reply without an end": {slices.Concat(times(1, babble), times(1, wraps)), blind(), []string{"Your last reply repeats itself"}},
		"results that differ":    {slices.Concat(times(9, looks), times(1, wraps)), []toolapi.Tool{counts}, nil},
		"another call between":   {slices.Concat(times(2, looks), times(1, acts), times(2, looks), times(1, wraps)), blind(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: tt.script, tools: tt.tools})
			w.prompt("go", absent)
			w.mustTurn(pawl.ReasonEndTurn)
			beginsWith := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			check(t, tt.want, w.loopMessages(), beginsWith)
		})
	}
}

func absent(p *pawl.Prompted) { p.Absent = true }

// The word that did not help is the last one: where nobody is asked, the turn ends.
func TestCirclesEndTheTurn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		parent pawl.SessionID
		change func(*pawl.Prompted)
	}{
		"nobody is there": {"", absent},
		"a child":         {"01JD0000000000000000000009", func(*pawl.Prompted) {}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: times(9, looks), tools: blind(), parent: tt.parent})
			w.prompt("go", tt.change)
			stop := w.mustTurn(pawl.ReasonLoop)
			check(t, Stop{Reason: pawl.ReasonLoop, Message: report}, stop)
			check(t, []string{repeats}, w.loopMessages())
			check(t, 6, len(w.results()))
			check(t, 0, len(w.bodies(pawl.Asked{})))
		})
	}
}

// A person who steers is there: it counts from the beginning.
func TestSteeringEndsCircles(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: slices.Concat(times(9, looks), times(1, wraps)), tools: blind()})
	w.prompt("go", absent)
	w.model.begins = func(r model.Request) {
		if r.Replies == 5 { // the sixth call is the second finding
			w.prompt("look elsewhere", steer)
		}
	}
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []string{repeats, repeats}, w.loopMessages())
}

// person is who answers what the turn asks, as soon as it is in the log.
type person struct {
	store.Store
	answer pawl.Answer
}

func (p *person) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := p.Store.Append(ctx, id, after, events...)
	if err == nil {
		err = p.hear(ctx, stored[len(stored)-1])
	}
	return stored, err
}

func (p *person) hear(ctx context.Context, e pawl.Event) error {
	if a, ok := e.Body.(pawl.Asked); !ok || a.Kind != pawl.AskLoop || p.answer.Outcome == "" {
		return nil
	}
	_, err := p.Store.Append(ctx, e.Session, e.Seq, pawl.Event{Turn: e.Turn, At: noon, Body: pawl.Answered{Ask: e.Seq, Answer: p.answer}})
	return err
}

func TestAskedToGoOn(t *testing.T) {
	t.Parallel()
	const word = "The user was asked whether you should continue, and answered: look in docs"
	for name, tt := range map[string]struct {
		answer       pawl.Answer
		reason       pawl.Reason
		calls        int
		loopMessages []string
	}{
		"yes":            {pawl.Answer{Outcome: pawl.OutcomeAnswered}, pawl.ReasonEndTurn, 8, []string{repeats}},
		"yes, but":       {pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: " look in docs\n"}, pawl.ReasonEndTurn, 8, []string{repeats, word}},
		"no":             {pawl.Answer{Outcome: pawl.OutcomeDenied}, pawl.ReasonLoop, 6, []string{repeats}},
		"nobody in time": {pawl.Answer{}, pawl.ReasonLoop, 6, []string{repeats}},
		"from beyond":    {pawl.Answer{Outcome: "maybe"}, pawl.ReasonLoop, 6, []string{repeats}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{
				script: slices.Concat(times(8, looks), times(1, wraps)), tools: blind(),
				store: func(st store.Store) store.Store { return &person{st, tt.answer} },
			})
			w.prompt("go", func(p *pawl.Prompted) { p.AskTimeout = 1 })
			w.mustTurn(tt.reason)
			check(t, tt.loopMessages, w.loopMessages())
			check(t, tt.calls, len(w.results()))
			check(t, []pawl.Body{pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Title: "Continue?", Text: report, Timeout: 1}}}, w.bodies(pawl.Asked{}))
		})
	}
}

// Each yes begins the count anew: a word first, then the next question.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{
		script: slices.Concat(times(13, looks), times(1, wraps)), tools: blind(),
		store: func(st store.Store) store.Store { return &person{st, pawl.Answer{Outcome: pawl.OutcomeAnswered}} },
	})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []string{repeats, repeats}, w.loopMessages())
	check(t, 2, len(w.bodies(pawl.Asked{})))
}

// A turn that is canceled while it asks needs no answer any more.
func TestCanceledWhileAsking(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: times(9, looks), tools: blind()})
	w.prompt("go")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for e, err := range w.bus.Events(ctx, session, 0) {
			if err != nil || pawl.KindOf(e.Body) == "asked" {
				cancel()
				return
			}
		}
	}()
	stop, err := w.turn(ctx)
	if err != nil || stop.Reason != pawl.ReasonCanceled {
		t.Fatalf("%+v, %v", stop, err)
	}
	answers := w.bodies(pawl.Answered{})
	if len(answers) != 1 || answers[0].(pawl.Answered).Outcome != pawl.OutcomeCanceled {
		t.Errorf("the log says %v", answers)
	}
}

// An ask whose turn is taken away stays open, and whoever goes on waits for it again.
func TestAskTakenAway(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: slices.Concat(times(6, looks), times(1, wraps)), tools: blind()})
	w.prompt("go")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	var ask pawl.Seq
	go func() {
		for e, err := range w.bus.Events(t.Context(), session, 0) {
			if err != nil || pawl.KindOf(e.Body) == "asked" {
				ask = e.Seq
				stop(errors.New("the process ends"))
				return
			}
		}
	}()
	if _, err := w.turn(ctx); err == nil {
		t.Fatal("the turn ended")
	}
	w.append(pawl.Answered{Ask: ask, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}})
	w.Forget(session)
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, 1, len(w.bodies(pawl.Asked{})))
}

// However much of the log a crash leaves, the same is found, told and asked.
func TestCirclesFromEveryPoint(t *testing.T) {
	t.Parallel()
	yes := pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: "look in docs"}
	for name, tt := range map[string]struct {
		answer  pawl.Answer
		settle  func(*pawl.Prompted)
		before  bool // the session went back once
		reasons []pawl.Reason
	}{
		"asked, yes":      {yes, func(*pawl.Prompted) {}, false, []pawl.Reason{pawl.ReasonEndTurn}},
		"asked, no":       {pawl.Answer{Outcome: pawl.OutcomeDenied}, func(*pawl.Prompted) {}, false, []pawl.Reason{pawl.ReasonLoop}},
		"nobody is there": {pawl.Answer{}, absent, false, []pawl.Reason{pawl.ReasonLoop}},
		"gone back":       {pawl.Answer{}, absent, true, []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonLoop}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := slices.Concat(times(6, looks), times(1, wraps))
			if tt.before {
				lines = slices.Insert(lines, 0, wraps)
			}
			at := &heads{}
			who := &person{answer: tt.answer}
			w := newEnv(t, setup{script: lines, tools: blind(), store: func(st store.Store) store.Store {
				at.Store, who.Store = st, at
				return who
			}})
			if tt.before {
				to := w.prompt("something else", absent)
				w.mustTurn(pawl.ReasonEndTurn)
				w.append(pawl.UndoAsked{Undo: pawl.Undo{To: to, Scope: pawl.ScopeConversation}})
				w.append(pawl.Undone{Asked: pawl.Seq(len(w.events()))})
			}
			begins := w.prompt("go", tt.settle)
			w.mustTurn(tt.reasons[len(tt.reasons)-1])
			want := w.events()
			for _, head := range sampled(at.after) {
				if head < begins {
					continue
				}
				id := pawl.SessionID(fmt.Sprintf("01JD00000000000000000001%02d", head))
				resumeCopy(t, who, id, want[:head], blind(), w.model) // what it ends with is answered, if it is asked
				var got []pawl.Event
				for e, err := range who.Events(t.Context(), id, 0) {
					if err != nil {
						t.Fatal(err)
					}
					e.Session = session
					got = append(got, e)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after a crash at %d (%s): -uncrashed, +resumed:\n%s", head, pawl.KindOf(want[head-1].Body), diff)
				}
			}
		})
	}
}
