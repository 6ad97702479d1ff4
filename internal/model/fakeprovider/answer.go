package fakeprovider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// answer is a reply split into the pieces that are sent.
type answer struct {
	position  int
	reasoning []string
	text      []string
	calls     []call
	finish    pawl.Finish
	usage     pawl.Usage
}

// call is a tool call with its arguments split into pieces.
type call struct {
	pawl.ToolCall
	pieces []string
}

// finishRefusal is a finish that only providers have.
const finishRefusal pawl.Finish = "refusal"

// refusalText is the text of a refusal, in protocols that have one.
const refusalText = "I'm sorry, but I can't help with that."

// newAnswer splits the reply into pieces and applies faults that change its content.
func newAnswer(position int, r script.Reply, f Fault) answer {
	deltas := r.Deltas
	switch f.Kind {
	case KindEmpty:
		r.Text, r.Reasoning, r.Calls = "", "", nil
	case KindRefusal:
		r.Text, r.Calls, r.Finish = "", nil, finishRefusal
	case KindHuge:
		r.Text, deltas = strings.Repeat("a", f.N), 1
	case KindGarbage:
		r.Calls = script.Garble(r.Calls, position)
	case KindCutArguments:
		r.Calls, r.Finish = script.Garble(r.Calls, position), pawl.FinishMaxTokens
	case KindUnknownTool:
		r.Calls = withCall(r.Calls, position)
		r.Calls[len(r.Calls)-1].Name = "no_such_tool"
	case KindDuplicateIDs:
		r.Calls = withCall(r.Calls, position)
		r.Calls = append(r.Calls, r.Calls[len(r.Calls)-1])
	case KindDropInCall:
		r.Calls = withCall(r.Calls, position)
	case KindDrop, KindHang, KindMalformed, KindStreamError, KindOverflowLate:
		r.Text, deltas = or(r.Text, "This text breaks off."), max(deltas, 2) // there must be a middle
	default: // does not change the content
	}
	a := answer{
		position: position, finish: r.Finish, usage: r.Usage,
		reasoning: slices.Collect(script.Pieces(r.Reasoning, deltas)),
		text:      slices.Collect(script.Pieces(r.Text, deltas)),
	}
	for _, c := range r.Calls {
		// Arguments are always split, so that a client must join them.
		a.calls = append(a.calls, call{c, slices.Collect(script.Pieces(string(c.Input), max(deltas, 2)))})
	}
	if a.finish == "" {
		a.finish = pawl.FinishEndTurn
		if len(a.calls) > 0 {
			a.finish = pawl.FinishToolUse
		}
	}
	return a
}

// withCall returns a copy of the calls, or a call of read if the list is empty.
func withCall(calls []pawl.ToolCall, position int) []pawl.ToolCall {
	if len(calls) > 0 {
		return slices.Clone(calls)
	}
	calls = script.Garble(nil, position)
	calls[0].Input = json.RawMessage(`{"path":"README.md"}`)
	return calls
}

// arguments returns the input as JSON; {} if it is malformed.
func (c call) arguments() string {
	if json.Valid(c.Input) {
		return string(c.Input)
	}
	return "{}"
}

// prompt returns the number of prompt tokens, cached or not.
func (a answer) prompt() int64 { return a.usage.Input + a.usage.CacheRead + a.usage.CacheWrite }

// event is a stream event.
type event struct {
	mark  mark
	frame string // as sent
}

// mark classifies an event for faults.
type mark int

const (
	markFrame     mark = iota // part of the protocol
	markReasoning             // a piece of reasoning
	markText                  // a piece of text
	markCall                  // the start of a call
	markArguments             // a piece of a call's arguments
	markEnd                   // completes the reply
)

// named returns an event in the format of Anthropic and OpenAI's Responses.
func named(m mark, name, data string) event {
	return event{m, "event: " + name + "\ndata: " + data + "\n\n"}
}

// quote encodes a string as JSON without escaping <, > and &.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // cannot happen for a string
	}
	return strings.TrimSuffix(b.String(), "\n")
}
