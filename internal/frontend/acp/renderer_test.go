package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// paper is an editor that writes down what it is shown.
type paper struct {
	lines   []string
	said    map[role]string
	answer  string
	choices []choice
	filled  map[string]any // the form as it is sent back; nil means that forms are not supported
	sent    []form
	fail    error
}

func (p *paper) show(_ context.Context, _ pawl.SessionID, u update) error {
	switch u := u.(type) {
	case messageChunk:
		if p.said == nil {
			p.said = map[role]string{}
		}
		p.said[u.role] += u.text
		p.lines = append(p.lines, fmt.Sprintf("%s: %s", []string{"person", "model", "thought"}[u.role], strings.TrimSpace(u.text)))
	default:
		p.lines = append(p.lines, fmt.Sprintf("%T", u))
	}
	return p.fail
}

func (p *paper) choose(_ context.Context, _ pawl.SessionID, q choice) (string, error) {
	p.choices = append(p.choices, q)
	return p.answer, p.fail
}

func (p *paper) read(context.Context, pawl.SessionID, string, int) (string, error) {
	return "", errors.ErrUnsupported
}

func (p *paper) reads() bool { return false }

func (p *paper) fill(_ context.Context, _ pawl.SessionID, f form) (map[string]any, error) {
	p.sent = append(p.sent, f)
	return p.filled, p.fail
}

func (p *paper) forms() bool { return p.filled != nil }

func rendered(t *testing.T, bodies ...pawl.Body) []string {
	t.Helper()
	p := &paper{}
	r := newRenderer(&session{editor: p, mask: unmasked, dir: "/w", waiters: map[pawl.Seq]*waiter{}})
	for i, b := range bodies {
		e := pawl.Event{Seq: pawl.Seq(i + 1), Turn: 1, Body: b}
		if !pawl.KindOf(b).Durable() {
			e.Seq = 0
		}
		r.event(t.Context(), e)
	}
	return p.lines
}

// TestRendered checks how events are shown that a test of the whole program cannot trigger.
func TestRendered(t *testing.T) {
	t.Parallel()
	retry := pawl.Retried{Step: 1, Retry: pawl.Retry{Kind: pawl.ErrorOverloaded, Message: "later", Model: "m"}}
	for _, c := range []struct {
		name   string
		bodies []pawl.Body
		want   []string
	}{
		{"a retry voids what came, and the whole is shown after it", []pawl.Body{
			pawl.ReplyStarted{Step: 1}, pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "half"}, retry,
			pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "who"}, pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "whole"}}},
		}, []string{"model: half", "thought: pawl: Disregard the reply so far.", "thought: pawl: later: retrying with m, attempt 1", "model: who", "model: le"}},
		{"a prompt is shown when it is taken in, in its last words", []pawl.Body{
			pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "one"}}}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "two"}}}, pawl.Withdrawn{Prompt: 2},
			pawl.Reworded{Prompt: 1, Parts: pawl.Parts{pawl.Text{Text: "uno"}}}, pawl.TurnStarted{Prompt: 1},
		}, []string{"person: uno"}},
		{"a limit says which", []pawl.Body{pawl.TurnFinished{Reason: pawl.ReasonBudget, Message: "it has cost $1"}}, []string{"thought: pawl: Budget reached: it has cost $1. Send a prompt to continue, or restart with a higher --max-cost."}},
		{"a cancel says nothing", []pawl.Body{pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "by you"}}, nil},
		{"a word of a hook's", []pawl.Body{pawl.Status{State: "notice", Message: "mind"}}, []string{"thought: pawl: mind"}},
		{"a note with hidden characters", []pawl.Body{pawl.Status{State: "notice", Message: "mind\u202e `this`"}}, []string{"thought: pawl: mind 'this'"}},
		{"a conversation summed up", []pawl.Body{pawl.Compacted{Keep: 1, Before: 9, After: 2}}, []string{"thought: pawl: Compacted from 9 to 2 tokens"}},
		{"a command of the person's, when it runs", []pawl.Body{
			pawl.ShellAsked{Command: "make"}, pawl.TurnFinished{}, pawl.ShellStarted{Asked: 1}, pawl.ShellRan{Asked: 1, Status: pawl.CallDone},
			pawl.ShellAsked{Command: "rm -r /"}, pawl.ShellRan{Asked: 5, Status: pawl.CallDenied},
		}, []string{"acp.callStarted", "acp.callUpdated", "acp.callUpdated", "acp.callStarted", "acp.callUpdated"}},
		{"a mission", []pawl.Body{
			pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "`make` it \x1b[2Jfast"}}, pawl.TaskMerged{Task: "T1", Commit: "1a2b3c4d5e6f"}, pawl.Blocked{Reason: "no key"},
		}, []string{`thought: pawl: goal: 'make' it \u{1b}[2Jfast`, "thought: pawl: T1 merged as 1a2b3c4d", "thought: pawl: blocked: no key. Send a prompt to continue."}},
		{"a title", []pawl.Body{pawl.SessionTitled{Title: "x"}}, []string{"acp.titleUpdated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rendered(t, c.bodies...)); diff != "" {
				t.Errorf("told (-want):\n%s", diff)
			}
		})
	}
}

// TestPut: what is chosen is the answer, and only a clear yes is one.
func TestPut(t *testing.T) {
	t.Parallel()
	loop, always := pawl.Ask{Kind: pawl.AskLoop, Text: "round and round"}, pawl.Ask{Kind: pawl.AskPermission, Text: "x"}
	question := pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Header: "h", Question: "q", Options: []pawl.Option{{Label: "red"}, {Label: "blue"}}}}}
	for _, c := range []struct {
		name   string
		ask    pawl.Ask
		chosen string
		want   pawl.Answer
	}{
		{"go on", loop, "continue", pawl.Answer{Outcome: pawl.OutcomeAnswered}},
		{"end", loop, "stop", pawl.Answer{Outcome: pawl.OutcomeDenied}},
		{"nothing", loop, "", pawl.Answer{Outcome: pawl.OutcomeDenied}},
		{"always where it is not offered", always, "always", pawl.Answer{Outcome: pawl.OutcomeDenied}},
		{"an option", question, "1", pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"blue"}}}},
		{"no such option", question, "2", pawl.Answer{Outcome: pawl.OutcomeDenied}},
		{"none before the first", question, "-1", pawl.Answer{Outcome: pawl.OutcomeDenied}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &session{editor: &paper{answer: c.chosen}}
			got, err := s.present(t.Context(), call{}, c.ask)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("answered (-want), %v:\n%s", err, diff)
			}
			if err := c.ask.Check(got); err != nil {
				t.Errorf("the service would refuse it: %v", err)
			}
		})
	}
}

// TestTooLongARule: a rule that does not fit an option's name stands in the text.
func TestTooLongARule(t *testing.T) {
	t.Parallel()
	p := &paper{answer: "once"}
	s := &session{editor: p}
	rule := `{"tool":"write","pattern":"` + strings.Repeat("x", maxRule) + `"}`
	if _, err := s.present(t.Context(), call{}, pawl.Ask{Kind: pawl.AskPermission, Text: rule, Offer: []json.RawMessage{json.RawMessage(rule)}}); err != nil {
		t.Fatal(err)
	}
	if name := p.choices[0].options[2].name; name != "Always allow in this project: the rules shown above" {
		t.Errorf("the option is %q", name)
	}
	if text := p.choices[0].call.content[0].text; !strings.Contains(text, rule) {
		t.Errorf("the text is %q", text)
	}
}

// records is a service that takes note of answers.
type records struct {
	pawl.Service
	answers []pawl.Answer
}

func (r *records) Draft(context.Context, pawl.SessionID) (pawl.Draft, error) {
	return pawl.Draft{}, pawl.ErrNotFound
}

func (r *records) Cancel(context.Context, pawl.SessionID) error { return nil }

func (r *records) Answer(_ context.Context, _ pawl.SessionID, _ pawl.Seq, a pawl.Answer) error {
	r.answers = append(r.answers, a)
	return nil
}

// leaving is an editor that cancels instead of choosing.
type leaving struct {
	paper
	cancel func()
}

func (l *leaving) choose(context.Context, pawl.SessionID, choice) (string, error) {
	l.cancel()
	return "", nil
}

// TestCanceledIsNoAnswer: an editor that cancels a turn chooses nothing of what is
// asked in it. That is the cancel's to say, and no answer is given.
func TestCanceledIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := &records{}
	s := &session{svc: r}
	cancel := func() {
		if err := s.cancel(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for want, cancel := range map[int]func(){0: cancel, 1: func() {}} {
		r.answers = nil
		s.editor = &leaving{cancel: cancel}
		s.answerAsk(t.Context(), askID{"s", 1}, call{}, pawl.Ask{Kind: pawl.AskPermission})
		if len(r.answers) != want {
			t.Errorf("%d answers, want %d", len(r.answers), want)
		}
	}
}

// TestClosedEditor checks that a replay stops at the first update that the editor does not accept.
func TestClosedEditor(t *testing.T) {
	t.Parallel()
	p := &paper{fail: errors.New("broken pipe")}
	r := newRenderer(&session{editor: p, mask: unmasked, waiters: map[pawl.Seq]*waiter{}})
	err := r.replay(t.Context(), []pawl.Event{{Seq: 1, Body: pawl.TodosSet{}}, {Seq: 2, Body: pawl.TodosSet{}}})
	if err == nil || len(p.lines) != 1 {
		t.Errorf("after %v, %d were shown", err, len(p.lines))
	}
}
