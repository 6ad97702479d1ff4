package local

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// asideTime bounds what is written beside the conversation.
const asideTime = 20 * time.Second

// aside is something that is written beside a session's conversation.
type aside struct {
	session pawl.SessionID
	agent   string
	turn    int // 0: of the session
}

// title has the session named, beside its turn.
func (r *Runner) title(id pawl.SessionID) {
	r.beside(aside{id, pawl.AgentTitle, 0}, func(ctx context.Context) error { return r.Stepper.Title(ctx, id) })
}

// summarize has a turn that has ended summarized.
func (r *Runner) summarize(t pawl.Turn) {
	r.beside(aside{t.Session, pawl.AgentSummary, t.Number}, func(ctx context.Context) error { return r.Stepper.Summarize(ctx, t) })
}

// beside begins to write something and waits for nothing, unless it is being
// written already. It holds no lease, and Close ends it. A failure is nobody's
// concern: the session has no title, say, and the next turn tries again.
func (r *Runner) beside(a aside, write func(context.Context) error) {
	if r.Stepper.Small == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base.Err() != nil || r.asides[a] {
		return
	}
	r.asides[a] = true
	r.wg.Go(func() {
		ctx, cancel := context.WithTimeout(r.base, asideTime)
		defer cancel()
		_ = write(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.asides, a)
	})
}
