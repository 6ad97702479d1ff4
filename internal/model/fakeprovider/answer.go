package fakeprovider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// answer is a reply cut into the pieces that are sent.
type answer struct {
	position  int
	reasoning []string
	text      []string
	calls     []call
	finish    pawl.Finish
	usage     pawl.Usage
}

// call is a tool call and the pieces that its arguments come in.
type call struct {
	pawl.ToolCall
	pieces []string
}

// finishRefusal is a finish that only providers have.
const finishRefusal pawl.Finish = "refusal"

// refusalText is what a refusing provider says, where it says something.
const refusalText = "I'm sorry, but I can't help with that."

// newAnswer cuts the reply into pieces, with what its fault does to the content.
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
	default: // leaves the content as it is
	}
	a := answer{
		position: position, finish: r.Finish, usage: r.Usage,
		reasoning: slices.Collect(script.Pieces(r.Reasoning, deltas)),
		text:      slices.Collect(script.Pieces(r.Text, deltas)),
	}
	for _, c := range r.Calls {
		// Arguments never come in one piece, so that a client must join them.
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

// withCall is a copy of the calls, with one to read if there are none.
func withCall(calls []pawl.ToolCall, position int) []pawl.ToolCall {
	if len(calls) > 0 {
		return slices.Clone(calls)
	}
	calls = script.Garble(nil, position)
	calls[0].Input = json.RawMessage(`{"path":"README.md"}`)
	return calls
}

// arguments are the call's input as JSON; an input that is garbled is an empty object.
func (c call) arguments() string {
	if json.Valid(c.Input) {
		return string(c.Input)
	}
	return "{}"
}

// prompt is how many tokens were read, from a cache or not.
func (a answer) prompt() int64 { return a.usage.Input + a.usage.CacheRead + a.usage.CacheWrite }

// event is one piece of a stream.
type event struct {
	mark  mark
	frame string // as it goes over the wire
}

// mark says what a fault may do to an event.
type mark int

const (
	markFrame     mark = iota // belongs to the protocol
	markReasoning             // a piece of reasoning
	markText                  // a piece of text
	markCall                  // the beginning of a call
	markArguments             // a piece of a call's arguments
	markEnd                   // says that the reply is whole
)

// named is an event in the form of Anthropic's and OpenAI's Responses.
func named(m mark, name, data string) event {
	return event{m, "event: " + name + "\ndata: " + data + "\n\n"}
}

// quote is a string as JSON, without the escaping of <, > and &.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string is always JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}
