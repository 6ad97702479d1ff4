package openaichat

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// callDelta is a fragment of a call.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments are JSON in a string; some servers send the object itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(a))
	}
	if string(data) != "null" {
		*a = arguments(data)
	}
	return nil
}

// calls assembles the calls of a reply from fragments.
type calls struct{ list []call }

type call struct {
	index     int
	id, name  string
	arguments []byte
}

// add adds a fragment. The first fragment of a call has its id and name; one with neither belongs to an earlier
// call.
func (c *calls) add(d *callDelta) {
	to := c.find(d)
	if to == nil {
		index := len(c.list)
		if d.Index != nil {
			index = *d.Index
		}
		c.list = append(c.list, call{index: index})
		to = &c.list[len(c.list)-1]
	}
	if to.id == "" {
		to.id = d.ID
	}
	if to.name == "" {
		to.name = d.Function.Name
	}
	to.arguments = append(to.arguments, d.Function.Arguments...)
}

// find returns the call that a fragment belongs to, or nil if it starts one.
func (c *calls) find(d *callDelta) *call {
	var last *call
	for i := range c.list {
		have := &c.list[i]
		if d.Index != nil && *d.Index != have.index {
			continue
		}
		if d.ID != "" && d.ID == have.id {
			return have
		}
		last = have
	}
	if last != nil && d.begins(last) {
		return nil
	}
	return last
}

// begins reports whether a fragment starts another call than the one at its index, by name and id: some servers
// use index 0 for every call, or none. An id alone is not enough, because some servers generate a new one for
// each fragment.
func (d *callDelta) begins(have *call) bool {
	switch {
	case d.Function.Name == "" || have.name == "":
		return false
	case d.ID != "" && have.id != "":
		return d.ID != have.id
	case d.Index != nil:
		return false
	default: // without name and id: the call is over if its arguments are complete
		return d.Function.Name != have.name || json.Valid(have.arguments)
	}
}

// flush emits the calls in order and resets the list.
func (c *calls) flush(emit func(model.Chunk)) error {
	slices.SortStableFunc(c.list, func(a, b call) int { return a.index - b.index })
	for _, whole := range c.list {
		if whole.name == "" {
			return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("tool call without a name: %.200s", whole.arguments)}
		}
		if len(whole.arguments) == 0 {
			whole.arguments = []byte(`{}`) // a tool without parameters
		}
		emit(model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: pawl.CallID(whole.id), Name: whole.name, Input: whole.arguments}})
	}
	c.list = nil
	return nil
}
