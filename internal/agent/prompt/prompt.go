// Package prompt builds model requests from the log and fits long conversations into the
// context window: [Estimate] and [Counted] measure them, [Sizes.Fit] clears old tool
// results and, as a last resort, leaves out the middle ([DropMiddle]). [Digest] is the text
// that replaces the older part after a compaction, and [System] the system prompt.
//
// All of it depends on the conversation only, so that a resumed turn sends what it would
// have sent before, and changes rarely, so that providers can cache it.
package prompt

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Context is what a request is built from besides the log.
type Context struct {
	Session pawl.SessionID
	Agent   string
	System  string         // the system prompt
	Tools   []toolapi.Spec // nil offers none

	Effort            string   // of reasoning; "" means the model's default
	Temperature, TopP *float64 // nil means the model's default
}

// Build returns the request for the next reply. It shares the messages of h, so its cost does
// not grow with the log.
func Build(h *pawl.History, c Context) model.Request {
	return model.Request{
		Session:     c.Session,
		Parent:      h.Created().Parent,
		ParentCall:  h.Created().ParentCall,
		Agent:       c.Agent,
		Replies:     h.Replies(),
		System:      c.System,
		Messages:    h.Messages(),
		Tools:       c.Tools,
		Effort:      c.Effort,
		Temperature: c.Temperature,
		TopP:        c.TopP,
	}
}
