package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
)

// SummaryTimeout bounds the writing of a title or a summary.
const SummaryTimeout = 20 * time.Second

var errSummarizerClosed = errors.New("the process is shutting down")

// summaryKey identifies a title or a summary that is being written.
type summaryKey struct {
	session pawl.SessionID
	agent   string
	turn    int // 0 for the title of the session
}

// Summarizer writes titles and summaries of sessions in the background, with a small model.
// Nothing waits for it, and it holds no lease. After a failure the session has no title; the
// next turn tries again.
type Summarizer struct {
	stepper *Stepper
	base    context.Context //nolint:containedctx // Close cancels it
	stop    context.CancelCauseFunc
	wg      sync.WaitGroup

	mu      sync.Mutex
	writing map[summaryKey]bool
}

// NewSummarizer returns a Summarizer. The caller must close it.
func NewSummarizer(s *Stepper) *Summarizer {
	base, stop := context.WithCancelCause(context.Background())
	return &Summarizer{stepper: s, base: base, stop: stop, writing: map[summaryKey]bool{}}
}

// Close cancels what is being written and waits for it to end.
func (a *Summarizer) Close() {
	a.mu.Lock()
	a.stop(errSummarizerClosed)
	a.mu.Unlock()
	a.wg.Wait()
}

// Writing returns the number of titles and summaries that are being written.
func (a *Summarizer) Writing() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.writing)
}

// Title starts to write the title of a session.
func (a *Summarizer) Title(ctx context.Context, id pawl.SessionID) {
	a.start(ctx, summaryKey{id, model.AgentTitle, 0}, func(ctx context.Context) error { return a.stepper.Title(ctx, id) })
}

// Summarize starts to write the summary of a finished turn.
func (a *Summarizer) Summarize(ctx context.Context, t Turn) {
	a.start(ctx, summaryKey{t.Session, model.AgentSummary, t.Number}, func(ctx context.Context) error { return a.stepper.Summarize(ctx, t) })
}

// start calls write in the background, unless the same is being written already. It keeps the
// tenant of ctx, but outlives it.
func (a *Summarizer) start(ctx context.Context, key summaryKey, write func(context.Context) error) {
	if a.stepper.SummaryModel == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base.Err() != nil || a.writing[key] {
		return
	}
	a.writing[key] = true
	a.wg.Go(func() {
		ctx, cancel := context.WithTimeout(store.WithTenant(a.base, store.TenantOf(ctx)), SummaryTimeout)
		defer cancel()
		_ = write(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.writing, key)
	})
}
