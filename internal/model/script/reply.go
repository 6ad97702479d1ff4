package script

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Reply is one line of a script, whole, for a reader that sends it in its own
// way and acts its fault itself.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []pawl.ToolCall
	Finish    pawl.Finish // empty: what fits the calls
	Usage     pawl.Usage
	Deltas    int // pieces that the text, and the reasoning, is cut into; 0 means 1
	Delay     time.Duration
	Fault     Kind
	Times     int // how often the fault happens; 0 means always
}

// Reply returns what the script has for this request. If it does not fit the
// request, that is a *[Fault].
func (m *Model) Reply(req model.Request) (Reply, error) {
	r, err := m.reply(req)
	if err != nil {
		return Reply{}, err
	}
	return Reply{
		Text: r.Text, Reasoning: r.Reasoning, Calls: r.calls(req.Replies), Finish: r.Finish, Usage: r.Usage,
		Deltas: r.Deltas, Delay: time.Duration(r.DelayMS) * time.Millisecond, Fault: r.Fault, Times: r.Times,
	}, nil
}

// Agents returns the agents that have lines of their own, sorted.
func (m *Model) Agents() []string { return slices.Sorted(maps.Keys(m.agents)) }

// calls are the line's calls as the session's position+1st reply makes them.
func (r reply) calls(position int) []pawl.ToolCall {
	var calls []pawl.ToolCall
	for i, c := range r.Calls {
		calls = append(calls, pawl.ToolCall{ID: callID(position, i), Name: c.Name, Input: c.Input})
	}
	return calls
}

// finish is the line's own, or what fits the calls that are made.
func (r reply) finish(calls []pawl.ToolCall) pawl.Finish {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(calls) > 0:
		return pawl.FinishToolUse
	default:
		return pawl.FinishEndTurn
	}
}

// Garble breaks the input of the last call off, as a provider does that stops
// in mid-word. A reply without calls gets one to read.
func Garble(calls []pawl.ToolCall, position int) []pawl.ToolCall {
	if len(calls) == 0 {
		calls = []pawl.ToolCall{{ID: callID(position, 0), Name: "read"}}
	}
	calls = slices.Clone(calls)
	calls[len(calls)-1].Input = json.RawMessage(`{"path": `)
	return calls
}
