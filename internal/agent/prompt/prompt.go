// Package prompt turns the log into a model request, and makes a long
// conversation fit the model's window: [Estimate] and [Counted] say how large it
// is, [Clear] takes old results out, and [Truncate], where all else has failed,
// leaves out the middle. They are pure functions of the conversation, so that a
// resumed turn sends what it would have sent, and what they do changes seldom,
// so that a provider's cache holds.
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
	System  string         // the agent's own words
	Tools   []toolapi.Spec // none: withheld

	Temperature, TopP *float64 // nil means the model's own
}

// Build returns the request for the next reply. It shares the history's
// messages, so its cost does not grow with the log.
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
		Temperature: c.Temperature,
		TopP:        c.TopP,
	}
}
