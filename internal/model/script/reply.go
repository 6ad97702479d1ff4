package script

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Reply is a complete line of a script, for readers that send it in their own way and simulate its fault
// themselves.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []pawl.ToolCall
	Finish    pawl.Finish // empty: derived from the calls
	Usage     pawl.Usage
	Deltas    int // number of chunks for the text and the reasoning; 0 means 1
	Delay     time.Duration
	Fault     Kind
	Times     int // how often the fault occurs; 0 means always
}

// Reply returns the reply to a request. It returns a *[Fault] if the request does not match the script.
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

// Agents returns the agents with their own lines, sorted.
func (m *Model) Agents() []string { return slices.Sorted(maps.Keys(m.agents)) }

// calls returns the calls of the line, with ids for the reply at position.
func (r reply) calls(position int) []pawl.ToolCall {
	var calls []pawl.ToolCall
	for i, c := range r.Calls {
		calls = append(calls, pawl.ToolCall{ID: callID(position, i), Name: c.Name, Input: c.Input})
	}
	return calls
}

// finish returns the line's finish, or derives it from the calls.
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

// Garble truncates the input of the last call, like a provider that stops in mid-word. A reply without calls
// gets a call of read.
func Garble(calls []pawl.ToolCall, position int) []pawl.ToolCall {
	if len(calls) == 0 {
		calls = []pawl.ToolCall{{ID: callID(position, 0), Name: "read"}}
	}
	calls = slices.Clone(calls)
	calls[len(calls)-1].Input = json.RawMessage(`{"path": `)
	return calls
}
