package storetest

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// listAsking checks that lists can select the sessions with an open ask, and what rows say
// about the turn.
func listAsking(t *testing.T, s store.Store) {
	parent := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w/a", Owner: "ada"})
	subagent := createAt(t, s, 2, pawl.SessionCreated{Dir: "/w/b", Owner: "ada", Parent: parent})
	listed(t, s, pawl.Filter{Asking: true})
	prompt := pawl.Prompted{Settings: pawl.Settings{Agent: "build", Mode: "ask", Model: "m"}}
	reply := pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "first\n\nthe last line \n\n"}}}
	for _, step := range []struct {
		body  pawl.Body
		asks  int
		ended pawl.Reason
		mode  string
	}{
		{prompt, 0, "", "ask"},
		{pawl.TurnStarted{Prompt: 2}, 0, "", "ask"},
		{reply, 0, "", "ask"},
		{pawl.Asked{Call: "a"}, 1, "", "ask"},
		{pawl.Asked{Call: "b"}, 2, "", "ask"},
		{pawl.ModeChanged{Mode: "auto"}, 2, "", "auto"},
		{pawl.Answered{Ask: 5}, 1, "", "auto"},
		{pawl.TurnFinished{Reason: pawl.ReasonCanceled}, 0, pawl.ReasonCanceled, "auto"},
		{pawl.TurnStarted{}, 0, "", "auto"},
		{pawl.Asked{Call: "c"}, 1, "", "auto"},
	} {
		appended(t, s, subagent, row(t, s, subagent).Head, event(step.body))
		r := row(t, s, subagent)
		equal(t, "asks after "+string(pawl.KindOf(step.body)), r.Asks, step.asks)
		equal(t, "the end of the turn", r.Ended, step.ended)
		equal(t, "the mode", r.Mode, step.mode)
		var asking []pawl.SessionID
		if step.asks > 0 {
			asking = append(asking, subagent)
		}
		listed(t, s, pawl.Filter{Asking: true}, asking...)
	}
	r := row(t, s, subagent)
	equal(t, "the agent", r.Agent, "build")
	equal(t, "the last line", r.Last, "the last line")
	equal(t, "the newest turn", r.TurnAt, 10)
	listed(t, s, pawl.Filter{Asking: true, Owner: new(pawl.User("ada"))}, subagent)
	listed(t, s, pawl.Filter{Asking: true, Owner: new(pawl.User("bob"))})
	listed(t, s, pawl.Filter{Asking: true, Dir: "/w/a"})
	equal(t, "asks of the parent", row(t, s, parent).Asks, 0)
}
