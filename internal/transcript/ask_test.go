package transcript_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// TestChoices checks that each choice fits its ask, and what is offered.
func TestChoices(t *testing.T) {
	t.Parallel()
	rule := []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"make","decision":"allow"}`)}
	options := []pawl.Option{{Label: "red"}, {Label: "blue"}}
	for name, tt := range map[string]struct {
		ask  pawl.Ask
		want []string
	}{
		"permission":             {pawl.Ask{Kind: pawl.AskPermission, Names: "n", Offer: rule}, []string{"Allow once", "Allow for this session", "Always allow in this project", "Deny"}},
		"permission for once":    {pawl.Ask{Kind: pawl.AskPermission, Names: "n"}, []string{"Allow once", "Deny"}},
		"changes":                {pawl.Ask{Kind: pawl.AskPermission, Ran: true, Offer: rule}, []string{"Apply", "Apply for this session", "Always apply in this project", "Discard"}},
		"loop":                   {pawl.Ask{Kind: pawl.AskLoop}, []string{"Continue", "Stop"}},
		"question":               {pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Options: options}}}, []string{"red", "blue"}},
		"several answers":        {pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Options: options, Multiple: true}}}, nil},
		"several questions":      {pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Options: options}, {Options: options}}}, nil},
		"a kind from the future": {pawl.Ask{Kind: "?"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range transcript.Choices(tt.ask) {
				got = append(got, c.Label)
				if err := tt.ask.Check(c.Answer); err != nil {
					t.Errorf("%s: %v", c.Label, err)
				}
				if c.Answer.Names != tt.ask.Names {
					t.Errorf("%s does not repeat the names", c.Label)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("choices (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOpenAsks checks that an ask is open until its answer, and when it expires.
func TestOpenAsks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tr := transcript.New()
	apply := func(seq pawl.Seq, body pawl.Body) { tr.Apply(pawl.Event{Seq: seq, Turn: 1, At: at, Body: body}) }
	apply(1, pawl.TurnStarted{})
	apply(2, pawl.Asked{Call: "c", Ask: pawl.Ask{Kind: pawl.AskPermission, Title: "Run command", Timeout: time.Minute}})
	apply(3, pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop}})
	open := tr.OpenAsks()
	if len(open) != 2 || open[0].Ask.Seq != 2 || !open[0].Until.Equal(at.Add(time.Minute)) || !open[1].Until.IsZero() {
		t.Fatalf("open asks: %+v", open)
	}
	apply(4, pawl.Answered{Ask: 2, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}})
	if open := tr.OpenAsks(); len(open) != 1 || open[0].Ask.Seq != 3 {
		t.Errorf("open asks after the answer: %+v", open)
	}
}
