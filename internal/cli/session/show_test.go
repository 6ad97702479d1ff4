package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// shown returns what is printed of a log, and its items.
func shown(events []pawl.Event) (string, []transcript.Item) {
	tr := transcript.New()
	for _, e := range events {
		tr.Apply(e)
	}
	var out bytes.Buffer
	v := printer{w: &out}
	for _, it := range tr.Items() {
		v.item(it)
	}
	return out.String(), tr.Items()
}

func log(bodies ...pawl.Body) []pawl.Event {
	var events []pawl.Event
	for i, b := range bodies {
		events = append(events, pawl.Event{Seq: pawl.Seq(i + 1), Turn: 1, At: time.Unix(9, 0), Body: b})
	}
	return events
}

// TestShow checks how the items of a session are printed, and that control characters are escaped.
func TestShow(t *testing.T) {
	t.Parallel()
	got, _ := shown(log(
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go\x1b[2J\n"}, pawl.File{Name: "a\n.png", MediaType: "image/png", Data: []byte("123")}}},
		pawl.TurnStarted{Prompt: 1},
		pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: "Hm."}, pawl.Text{Text: "I look.\r-- done"}, pawl.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"make"}`)}, pawl.ToolCall{ID: "d", Name: "edit"}}},
		pawl.CallStarted{Call: "c", Tool: "bash"},
		pawl.Spawned{Call: "c", Subagent: "S1", Agent: "explore", Title: "find it"},
		pawl.CallFinished{Call: "c", Status: pawl.CallDone, Result: pawl.Result{Content: strings.Repeat("x\n", 14)}},
		pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
		pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
		pawl.Compacted{Keep: 4, Before: 20_000, After: 3_000, Text: "Goal:\nto fix it"},
		pawl.TurnFinished{Reason: pawl.ReasonBudget, Message: "$2\nspent", Steps: 1, Usage: pawl.Usage{Input: 1200, Output: 3}},
	))
	want := `
-- turn 1

you
  go
  [a\n.png, image/png, 3 bytes]

pawl (reasoning)
  Hm.

pawl
  I look.
  -- done

bash {"command":"make"} [ok]
` + strings.Repeat("  x\n", 12) + `  … 2 more lines

edit  [waiting]

-- subagent S1: explore: find it

-- goal: make it \u{1b}[2Jfast

-- T1 returned: check failed: go-test fails …
  go-test fails
  --- FAIL: TestA

-- Compacted from 20k to 3k tokens
  Goal:
  to fix it

-- turn 1: Budget reached: $2 … (1 step, 1,200 tokens in, 3 out)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestShowItems checks that the texts of all items are printed, except those of asks and todo lists.
func TestShowItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, items := shown(transcripttest.Log(t))
		for _, it := range items {
			want := it.Text
			if it.Kind == transcript.KindCall {
				want = it.Call.Tool
				if it.Call.User {
					want = "you ran: make"
				}
			}
			if !strings.Contains(text, want) {
				t.Fatalf("%q of %s is not in\n%s", want, it.ID, text)
			}
		}
	})
}
