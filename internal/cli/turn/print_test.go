package turn

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// turnBodies are the events of a turn that streams a text in part, calls a tool, retries and is compacted.
var turnBodies = []pawl.Body{
	pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}},
	pawl.TurnStarted{Prompt: 1},
	pawl.ReplyStarted{Step: 1},
	pawl.Delta{Reply: 3, Channel: pawl.ChannelReasoning, Text: "Hm."},
	pawl.Delta{Reply: 3, Channel: pawl.ChannelText, Text: "I loo"},
	pawl.Retried{Retry: pawl.Retry{Attempt: 1, Message: "overloaded\x1b[2J", Model: "m", Wait: 2 * time.Second}},
	pawl.Delta{Reply: 3, Channel: pawl.ChannelText, Text: "I look at"},
	pawl.Delta{Reply: 3, Channel: pawl.ChannelText, Offset: 20, Text: "lost"},
	pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "I look at it."}, pawl.ToolCall{ID: "c", Name: "bash"}}},
	pawl.CallStarted{Call: "c", Tool: "bash", Access: []pawl.Access{{Target: "make\x1b[2J"}, {Target: "make\x1b[2J"}}},
	pawl.CallFinished{Call: "c", Status: pawl.CallDone, Result: pawl.Result{Content: "ok"}},
	pawl.Compacted{Keep: 4, Before: 20_000, After: 3_000, Text: "Goal"},
	pawl.Status{State: "notice", Message: "a hook says hi"},
	pawl.ReplyStarted{Step: 2},
	pawl.Delta{Reply: 9, Channel: pawl.ChannelText, Text: "Done."},
	pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "Done."}}},
	pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
}

// missionBodies are the events of a mission.
var missionBodies = []pawl.Body{
	pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
	pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
	pawl.Sealed{Candidate: "1a2b3c4d5e6f"},
}

// printed returns what a printer writes for events, and for their result.
func printed(t *testing.T, live bool, bodies []pawl.Body) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	p := NewTextPrinter(&o, &e)
	p.live = live
	res, seq := newResult("s"), pawl.Seq(0)
	for _, b := range bodies {
		event := pawl.Event{At: time.Unix(9, 0), Body: b}
		if pawl.KindOf(b).Durable() {
			seq++
			event.Seq = seq
		}
		if err := p.Event(event); err != nil {
			t.Fatal(err)
		}
		res.outcome.Add(event)
	}
	if err := res.complete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Result(res); err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String()
}

// TestPrint checks that a terminal shows texts as they arrive and the calls, and that other outputs have the final
// text only. Standard error has everything else.
func TestPrint(t *testing.T) {
	t.Parallel()
	retry, notice := "pawl: overloaded\\u{1b}[2J: retrying with m, attempt 2, in 2 seconds\n", "pawl: a hook says hi\n"
	mission := "pawl: goal: make it \\u{1b}[2Jfast\npawl: T1 returned: check failed: go-test fails …\npawl: sealed at 1a2b3c4d\n"
	for _, test := range []struct {
		name        string
		live        bool
		bodies      []pawl.Body
		out, errOut string
	}{
		{"terminal", true, turnBodies, "I loo\nI look at it.\nDone.\n",
			retry + "• bash: make\\u{1b}[2J\npawl: Compacted from 20k to 3k tokens: Goal\n" + notice},
		{"other output", false, turnBodies, "Done.\n", retry + notice},
		{"mission on a terminal", true, missionBodies, "", mission},
		{"mission", false, missionBodies, "", mission},
	} {
		out, errOut := printed(t, test.live, test.bodies)
		if diff := cmp.Diff([]string{test.out, test.errOut}, []string{out, errOut}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

// TestPrintFails checks that an output that cannot be written is reported.
func TestPrintFails(t *testing.T) {
	t.Parallel()
	p := NewTextPrinter(closed{}, &bytes.Buffer{})
	p.live = true
	if err := p.Event(pawl.Event{Seq: 1, Body: pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "x"}}}}); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}
