package acp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestFillForm checks that a complete form is an answer, and that anything else is a
// denial that the service accepts.
func TestFillForm(t *testing.T) {
	t.Parallel()
	ask := pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{
		{Header: "Name", Question: "What name?"},
		{Header: "Color", Question: "Which?", Options: []pawl.Option{{Label: "red"}, {Label: "blue"}}},
		{Header: "Parts", Question: "Which parts?", Options: []pawl.Option{{Label: "a"}, {Label: "b"}}, Multiple: true},
	}}
	denied := pawl.Answer{Outcome: pawl.OutcomeDenied}
	for _, c := range []struct {
		name   string
		filled map[string]any
		want   pawl.Answer
	}{
		{"complete", map[string]any{"0": "Ann", "1": "1", "2": []any{"1", "0"}}, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"Ann"}, {"blue"}, {"b", "a"}}}},
		{"a missing field", map[string]any{"0": "Ann", "1": "1"}, denied},
		{"an empty text", map[string]any{"0": "", "1": "1", "2": []any{"1"}}, denied},
		{"an unknown option", map[string]any{"0": "Ann", "1": "2", "2": []any{"1"}}, denied},
		{"a negative option", map[string]any{"0": "Ann", "1": "-1", "2": []any{"1"}}, denied},
		{"a label", map[string]any{"0": "Ann", "1": "blue", "2": []any{"1"}}, denied},
		{"an option twice", map[string]any{"0": "Ann", "1": "1", "2": []any{"1", "1"}}, denied},
		{"two of one", map[string]any{"0": "Ann", "1": []any{"0", "1"}, "2": []any{"1"}}, denied},
		{"no option", map[string]any{"0": "Ann", "1": "1", "2": []any{}}, denied},
		{"a number", map[string]any{"0": 1.0, "1": "1", "2": []any{"1"}}, denied},
		{"nothing", map[string]any{}, denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &paper{filled: c.filled}
			s := &session{editor: p}
			got, err := s.present(t.Context(), call{id: "c"}, ask)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("answered (-want), %v:\n%s", err, diff)
			}
			if err := ask.Check(got); err != nil {
				t.Errorf("the service would refuse it: %v", err)
			}
			if len(p.sent) != 1 || p.sent[0].call != "c" || p.sent[0].message != "3 questions" {
				t.Errorf("sent %+v", p.sent)
			}
		})
	}
}

// TestFormOfSubagent checks that a form names the subagent that asks, and not a call that
// the editor does not know.
func TestFormOfSubagent(t *testing.T) {
	t.Parallel()
	p := &paper{filled: map[string]any{"0": "yes"}}
	s := &session{editor: p}
	ask := pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Header: "H", Question: "Why\x1b?"}}}
	if _, err := s.present(t.Context(), call{id: "ask-s-1", derived: true, title: "subagent \"x\" (general)"}, ask); err != nil {
		t.Fatal(err)
	}
	if got := p.sent[0]; got.call != "" || got.message != "subagent \"x\" (general): Why\\u{1b}?" {
		t.Errorf("sent %+v", got)
	}
}
