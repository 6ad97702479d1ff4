// Package prompt turns the log into a model request.
package prompt

import "github.com/pawl-dev/pawl"

// Context is what a request is built from besides the log.
type Context struct {
	Session pawl.SessionID
	Agent   string
	System  string          // the agent's own words
	Tools   []pawl.ToolSpec // none: withheld
}

// Build returns the request for the next reply. It shares the history's
// messages, so its cost does not grow with the log.
func Build(h *pawl.History, c Context) pawl.Request {
	return pawl.Request{
		Session:    c.Session,
		ParentCall: h.Created().ParentCall,
		Agent:      c.Agent,
		Replies:    h.Replies(),
		System:     c.System,
		Messages:   h.Messages(),
		Tools:      c.Tools,
	}
}
