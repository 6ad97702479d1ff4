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

// SummaryTimeout bounds what is written beside a conversation.
const SummaryTimeout = 20 * time.Second

var errSummarizerClosed = errors.New("pawl is shutting down")

// summaryKey is something that is written beside a session's conversation.
type summaryKey struct {
	session pawl.SessionID
	agent   string
	turn    int // 0: of the session
}

// Summarizer writes titles and summaries in the background. Nothing waits for it,
// and it holds no lease. A failure leaves the session without a title; the next
// turn tries again.
type Summarizer struct {
	stepper *Stepper
	base    context.Context //nolint:containedctx // their life: Close ends all
	stop    context.CancelCauseFunc
	wg      sync.WaitGroup

	mu sync.Mutex
	at map[summaryKey]bool // that are being written
}

// NewSummarizer returns Asides. Close them.
func NewSummarizer(s *Stepper) *Summarizer {
	base, stop := context.WithCancelCause(context.Background())
	return &Summarizer{stepper: s, base: base, stop: stop, at: map[summaryKey]bool{}}
}

// Close ends what is being written, and waits for it.
func (a *Summarizer) Close() {
	a.mu.Lock()
	a.stop(errSummarizerClosed)
	a.mu.Unlock()
	a.wg.Wait()
}

// Writing returns how much is being written.
func (a *Summarizer) Writing() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

// Title has the session named.
func (a *Summarizer) Title(ctx context.Context, id pawl.SessionID) {
	a.start(ctx, summaryKey{id, model.AgentTitle, 0}, func(ctx context.Context) error { return a.stepper.Title(ctx, id) })
}

// Summarize has a turn that has ended summarized.
func (a *Summarizer) Summarize(ctx context.Context, t Turn) {
	a.start(ctx, summaryKey{t.Session, model.AgentSummary, t.Number}, func(ctx context.Context) error { return a.stepper.Summarize(ctx, t) })
}

// beside begins to write something and waits for nothing, unless it is being
// written already. It is for the tenant of ctx, and outlives it.
func (a *Summarizer) start(ctx context.Context, one summaryKey, write func(context.Context) error) {
	if a.stepper.SummaryModel == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base.Err() != nil || a.at[one] {
		return
	}
	a.at[one] = true
	a.wg.Go(func() {
		ctx, cancel := context.WithTimeout(store.WithTenant(a.base, store.TenantOf(ctx)), SummaryTimeout)
		defer cancel()
		_ = write(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.at, one)
	})
}
