package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestOutcome checks that an outcome is that of the last turn, with the denials of its subagents.
func TestOutcome(t *testing.T) {
	t.Parallel()
	end := pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2}
	turn := []pawl.Event{
		{Body: pawl.TurnStarted{}},
		{Body: pawl.Replied{Parts: append(text("I look."), pawl.ToolCall{ID: "a", Name: "bash"}, pawl.ToolCall{ID: "b", Name: "edit"})}},
		{Body: pawl.Spawned{Call: "a", Subagent: "s"}},
		{Body: pawl.TaskStarted{Worker: "w"}},
		{Body: pawl.CallFinished{Call: "a", Status: pawl.CallDone, Result: pawl.Result{Refused: []string{"protected"}, Changed: []string{"a.go"}}}},
		{Body: pawl.CallFinished{Call: "b", Status: pawl.CallDenied, Result: pawl.Result{Content: "no", IsError: true}}},
		{Body: pawl.Replied{}},
		{Body: end},
	}
	var o Outcome
	o.Add(pawl.Event{Body: pawl.Replied{Parts: append(text("earlier"), pawl.ToolCall{ID: "a", Name: "old"})}})
	o.Add(pawl.Event{Body: pawl.CallFinished{Call: "a", Status: pawl.CallDenied}})
	for _, e := range turn {
		o.Add(e)
	}
	o.AddSubagent("s", turn)
	if o.Text != "I look." || o.End != end {
		t.Errorf("%q, %+v", o.Text, o.End)
	}
	if diff := cmp.Diff([]pawl.SessionID{"s", "w"}, o.Subagents); diff != "" {
		t.Errorf("subagents: (-want +got)\n%s", diff)
	}
	want := []Denial{{"", "bash", "protected"}, {"", "edit", "no"}, {"s", "bash", "protected"}, {"s", "edit", "no"}}
	if diff := cmp.Diff(want, o.Denials); diff != "" {
		t.Errorf("denials: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.go"}, o.Changed()); diff != "" {
		t.Errorf("changed: (-want +got)\n%s", diff)
	}
}
