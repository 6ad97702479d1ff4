package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// chronicle is a hook at all points that writes down what it is run for.
type chronicle struct {
	mu    sync.Mutex
	lines []string
	says  map[string]hook.Outcome // to a line
}

func (c *chronicle) hook() hook.Hook {
	return hook.Hook{Name: "chronicle", Points: []hook.Point{
		hook.ChatMessage, hook.ToolBefore, hook.ToolAfter, hook.AssistantDone, hook.SessionStart, hook.SessionEnd,
		hook.PermissionAsk, hook.CompactionBefore, hook.CompactionAfter, hook.SubagentStop, hook.Notification,
	}, Run: func(_ context.Context, e hook.Event) (hook.Outcome, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		line := string(e.Point)
		if detail := e.Source + e.Trigger + e.Tool; detail != "" {
			line += " " + detail
		}
		if e.Point == hook.SessionEnd {
			line += " " + string(e.Reason)
		}
		c.lines = append(c.lines, line)
		return c.says[line], nil
	}}
}

// takeLines returns the lines since its last call.
func (c *chronicle) takeLines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// answered answers what a session asks, as long as the test runs.
func answered(t *testing.T, b *bus.Bus, st store.Store, id pawl.SessionID, after pawl.Seq) {
	t.Helper()
	go func() {
		for e, err := range b.Events(t.Context(), id, after) {
			if err != nil {
				return
			}
			for _, ok := e.Body.(pawl.Asked); ok; {
				row, err := st.Session(context.Background(), id)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = b.Append(context.Background(), id, row.Head, pawl.Event{Turn: e.Turn, At: noon, Body: pawl.Answered{Ask: e.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}}})
				ok = errors.Is(err, pawl.ErrConflict)
			}
		}
	}()
}

// everyPoint is a session that comes to all points, and in which order.
var everyPoint = []string{
	"session.start startup", "chat.message",
	"tool.execute.before act", "permission.ask act", "notification permission_prompt", "tool.execute.after act",
	"assistant.done", "notification idle_prompt",
	"compaction.before manual", "compaction.after manual", "session.start compact",
	"chat.message", "assistant.done", "notification idle_prompt", "session.end other",
}

// wholeSession has hooks see all points of a session.
func wholeSession(t *testing.T, c *chronicle) *testEnv {
	t.Helper()
	w := newEnv(t, setup{
		tools:  []toolapi.Tool{toolText("act", pawl.AccessWrite, strings.Repeat("acted ", 500))},
		script: []string{`{"calls":[{"name":"act"}]}`, `{"text":"One."}`, `{"text":"Two."}`, `{"agent":"compaction","text":"Sum."}`},
	})
	w.Hooks = goHooks{c.hook()}
	answered(t, w.bus, w.Store, session, 0)
	w.prompt("go", inMode("ask"))
	w.mustTurn(pawl.ReasonEndTurn)
	w.append(pawl.CompactionAsked{})
	w.prompt("and on", inMode("ask"))
	w.mustTurn(pawl.ReasonEndTurn)
	return w
}

// TestHookPoints: hooks are run at all points, each time once, and what they say
// after a compaction the model reads next.
func TestHookPoints(t *testing.T) {
	t.Parallel()
	c := &chronicle{says: map[string]hook.Outcome{
		"compaction.after manual": {Context: []string{"mind the gap"}}, "session.start compact": {Context: []string{"mind the step"}},
		"session.end other": {Messages: []string{"goodbye"}},
	}}
	w := wholeSession(t, c)
	check(t, []string{"goodbye"}, w.End(t.Context(), session, hook.EndOther))
	check(t, everyPoint, c.takeLines())
	check(t, []pawl.Body{pawl.Injected{Source: "hook", Text: "mind the gap"}, pawl.Injected{Source: "hook", Text: "mind the step"}}, w.bodies(pawl.Injected{}))
	last := w.model.requests[len(w.model.requests)-1]
	if text := fmt.Sprint(last.Messages); !strings.Contains(text, "mind the gap") || !strings.Contains(text, "mind the step") {
		t.Errorf("the model reads %s", text)
	}

	check(t, nil, w.End(t.Context(), session, hook.EndOther))
	check(t, nil, c.takeLines()) // it has ended already
	w.prompt("again", inMode("ask"))
	if _, _, err := w.Begin(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	check(t, []string{"session.start resume", "chat.message"}, c.takeLines())
}

// doneBy returns what an event shows as done: it must not be reported again once a
// log has it.
func doneBy(b pawl.Body) (line string) {
	switch b.(type) {
	case pawl.TurnStarted:
		return "chat.message"
	case pawl.CallStarted:
		return "tool.execute.before act"
	case pawl.Asked:
		return "notification permission_prompt"
	case pawl.CallFinished:
		return "tool.execute.after act"
	case pawl.Compacted:
		return "compaction.after manual"
	case pawl.TurnFinished:
		return "notification idle_prompt"
	default:
		return ""
	}
}

// TestHookPointsResumed: however much of the log a crash leaves, the process that
// goes on tells hooks nothing that the log shows as done, and all that it does
// itself, once.
func TestHookPointsResumed(t *testing.T) {
	t.Parallel()
	w := wholeSession(t, &chronicle{})
	events := w.events()
	for head := 2; head <= len(events); head++ {
		id := pawl.SessionID(fmt.Sprintf("01JD00000000000000000001%02d", head))
		if _, err := w.Store.Append(t.Context(), id, 0, events[:head]...); err != nil {
			t.Fatal(err)
		}
		c, b := &chronicle{}, bus.New(w.Store, bus.Config{})
		config := w.Config
		config.Hooks, config.Bus = goHooks{c.hook()}, b
		after := pawl.Seq(0)
		if slices.ContainsFunc(events[:head], func(e pawl.Event) bool { return pawl.KindOf(e.Body) == pawl.KindOf(pawl.Answered{}) }) {
			after = pawl.Seq(head) // nothing is open
		}
		answered(t, b, w.Store, id, after)
		s := NewStepper(config)
		for {
			turn, ok, err := s.Begin(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			reason, err := Run(t.Context(), s, turn)
			stop, err := StopOf(reason, err)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Finish(t.Context(), turn, stop); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]int{}
		for e, err := range w.Store.Events(t.Context(), id, pawl.Seq(head)) {
			if err != nil {
				t.Fatal(err)
			}
			if line := doneBy(e.Body); line != "" {
				want[line]++
			}
			if f, ok := e.Body.(pawl.CallFinished); ok && f.Status != pawl.CallDone {
				want[doneBy(f)]-- // it was not run: its outcome is unknown
			}
		}
		got := map[string]int{}
		for _, line := range c.takeLines() {
			got[line]++
		}
		for _, line := range []string{"chat.message", "tool.execute.before act", "notification permission_prompt", "tool.execute.after act", "compaction.after manual", "notification idle_prompt"} {
			if got[line] != want[line] {
				t.Errorf("after %d events (%T): %s came %d times, want %d", head, events[head-1].Body, line, got[line], want[line])
			}
		}
	}
}

// TestHookNobody: where nobody is, nobody is called; and who has canceled a turn
// knows that it has ended.
func TestHookNobody(t *testing.T) {
	t.Parallel()
	absent := func(p *pawl.Prompted) { p.Absent = true }
	for name, test := range map[string]struct {
		parent pawl.SessionID
		prompt func(*pawl.Prompted)
		cancel bool
		want   bool
	}{
		"a person":               {prompt: inMode("yolo"), want: true},
		"nobody":                 {prompt: absent},
		"a task":                 {prompt: inMode("yolo"), parent: "01JD0000000000000000000009"},
		"one who has ended it":   {prompt: inMode("yolo"), cancel: true},
		"one whose prompt waits": {prompt: inMode("yolo"), want: false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chronicle{}
			w := newEnv(t, setup{script: []string{isDone, isDone}, parent: test.parent})
			w.Hooks = goHooks{c.hook()}
			w.prompt("go", test.prompt)
			if strings.Contains(name, "waits") {
				w.prompt("then", test.prompt, queue)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancel {
				w.model.begins = func(model.Request) { cancel() }
			}
			if _, err := w.turn(ctx); err != nil {
				t.Fatal(err)
			}
			check(t, test.want, slices.Contains(c.takeLines(), "notification idle_prompt"))
			w.End(t.Context(), session, hook.EndOther)
			check(t, test.parent == "", slices.Contains(c.takeLines(), "session.end other"))
		})
	}
}

// TestHookTouches: what a hook makes of a call is what the guards after it check
// by, with the real targets of links.
func TestHookTouches(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		to   string
		says string
	}{
		"within its role":     {to: `{"path":"docs/b","content":"x"}`, says: "it ran with"},
		"out of its role":     {to: `{"path":"main.go","content":"x"}`, says: "may not write main.go"},
		"to no input at all":  {to: `{"word":1}`, says: "invalid changed input"},
		"out of it by a link": {to: `{"path":"docs/link/main.go","content":"x"}`, says: "may not write"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{`{"calls":[{"name":"write","input":{"path":"docs/a","content":"x"}}]}`, isDone}})
			w.link("docs/link", "..")
			w.Hooks = goHooks{
				{Name: "changes", Points: []hook.Point{hook.ToolBefore}, Run: func(context.Context, hook.Event) (hook.Outcome, error) {
					return hook.Outcome{Input: json.RawMessage(test.to)}, nil
				}},
				hook.StrictRoleGuard(map[string]hook.Role{Default: {Tools: []string{"write"}, Writes: []string{"docs/**"}}}),
			}
			w.prompt("go", inMode("yolo"))
			w.mustTurn(pawl.ReasonEndTurn)
			if got := w.results()[0].Result.Content; !strings.Contains(got, test.says) {
				t.Errorf("the model reads %q, want %q", got, test.says)
			}
			check(t, false, w.has("main.go"))
		})
	}
}

// TestHookBudget: once a budget is used up no call runs any more, not even those
// that the reply asks for which has used it up.
func TestHookBudget(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"bash","input":{"command":"touch a"}}],"usage":{"input":100,"output":1}}`, isDone}})
	w.Hooks = goHooks{hook.ResourceControl(func(_ context.Context, e hook.Event) ([]hook.Resource, error) { return e.Used, nil })}
	w.prompt("go", inMode("yolo"), func(p *pawl.Prompted) { p.MaxTokens = 50 })
	w.mustTurn(pawl.ReasonBudget)
	check(t, "refused by the hook resource-control: the turn has used 101 tokens of 50 tokens. Finish with what you have.", w.results()[0].Result.Content)
	check(t, false, w.has("a"))
}

// TestHookSane: a turn does not end with a reply that says the same over and over,
// unless that is all there is.
func TestHookSane(t *testing.T) {
	t.Parallel()
	babble := fmt.Sprintf(`{"text":%q}`, strings.Repeat("I am done. ", 200))
	for name, test := range map[string]struct {
		script []string
		words  int
	}{
		"it comes to its senses": {[]string{babble, isDone}, 1},
		"it does not":            {[]string{babble, babble}, 1},
		"it makes sense":         {[]string{isDone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: test.script})
			w.Hooks = goHooks{hook.SanityCheck(FindRepetition)}
			w.prompt("go", inMode("yolo"))
			w.mustTurn(pawl.ReasonEndTurn)
			words := 0
			for _, b := range w.bodies(pawl.Injected{}) {
				if b.(pawl.Injected).Source == fromHook {
					words++
				}
			}
			check(t, []int{test.words, len(test.script)}, []int{words, len(w.model.requests)})
		})
	}
}

// TestHookGivenUp: a person learns that a prompt waits for hooks, and can withdraw it
// meanwhile. It does not reach the model; what comes after it does.
func TestHookGivenUp(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	w.Hooks = goHooks{{Name: "hangs", Points: []hook.Point{hook.ChatMessage}, Run: func(ctx context.Context, e hook.Event) (hook.Outcome, error) {
		if e.Parts.Text() == "first" {
			<-ctx.Done()
		}
		return hook.Outcome{}, nil
	}}}
	first := w.prompt("first", inMode("yolo"))
	w.prompt("second", inMode("yolo"), queue)
	go func() {
		for e, err := range w.bus.Events(t.Context(), session, 0) {
			if s, ok := e.Body.(pawl.Status); ok && err == nil && strings.Contains(s.Message, "waiting for hooks") {
				w.Interrupt(session, first-1) // is not about it
				w.Interrupt(session, first)
				return
			}
		}
	}()
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []pawl.Body{pawl.Withdrawn{Prompt: first}}, w.bodies(pawl.Withdrawn{}))
	check(t, 1, len(w.bodies(pawl.TurnStarted{})))
	if text := fmt.Sprint(w.model.requests[0].Messages); strings.Contains(text, "first") || !strings.Contains(text, "second") {
		t.Errorf("the model reads %s", text)
	}
}
