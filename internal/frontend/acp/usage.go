package acp

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// contextUse is how much of a model's context window the conversation uses.
type contextUse struct {
	model string
	used  int64 // tokens
}

// add processes an event. It reports whether the use or the cost has changed.
func (c *contextUse) add(e pawl.Event) bool {
	switch b := e.Body.(type) {
	case pawl.Replied:
		c.model, c.used = b.Model, b.Usage.Tokens()
		return true
	case pawl.Compacted:
		if b.Keep != 0 {
			c.used = int64(b.After)
		}
		return b.Keep != 0
	case pawl.TurnFinished:
		return true // its subagents cost something
	default:
		return false
	}
}

// showUsage sends the use of the context window and the cost of the session. It sends
// nothing if the size of the window is unknown, which the protocol requires.
func (r *renderer) showUsage(ctx context.Context) {
	if r.use.used == 0 || r.window == nil {
		return
	}
	size := r.window(r.use.model)
	if size <= 0 {
		return
	}
	if row, err := r.svc.Get(ctx, r.id); err == nil { // otherwise the session was deleted
		r.show(ctx, usageUpdated{used: r.use.used, size: size, cost: row.Usage.Cost})
	}
}
