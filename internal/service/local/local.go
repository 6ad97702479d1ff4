// Package local runs the turns of sessions in this process. The log makes them resumable; a lease
// keeps other processes off a session that is being worked on.
package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
)

// Config configures a Runner.
type Config struct {
	Stepper  *agent.Stepper
	Owner    proc.Identity // the zero value means this process
	LeaseTTL time.Duration // 0 means 15 s

	// Admit returns an error if this process must not work on a session; nil means that
	// it may work on all.
	Admit func(ctx context.Context, id pawl.SessionID) error
}

// Runner runs sessions, each in a goroutine of its own.
type Runner struct {
	Config
	base context.Context //nolint:containedctx // parent of every turn's context; Close cancels it
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu         sync.Mutex
	runs       map[pawl.SessionID]*run
	summarizer *agent.Summarizer
}

// run is the work on one session.
type run struct {
	leased     chan struct{}      // closed when the lease was taken, or could not be
	err        error              // why the lease could not be taken
	requests   int                // how often the run was requested
	ending     bool               // it reads the log no more: a new request waits until it is done
	done       chan struct{}      // closed when the lease was released
	canceled   pawl.Seq           // prompts up to here are canceled
	prompt     pawl.Seq           // of the current turn
	cancelTurn context.CancelFunc // cancels the current turn; nil between turns
}

// errShutdown is the cause that ends the context of every turn when the runner closes; the turns stay
// open. See agent.Stepper.
var errShutdown = errors.New("the process is shutting down")

// New returns a Runner. The caller must close it.
func New(c Config) *Runner {
	if c.Owner == (proc.Identity{}) {
		c.Owner = proc.Self()
	}
	if c.LeaseTTL == 0 {
		c.LeaseTTL = 15 * time.Second
	}
	base, stop := context.WithCancelCause(context.Background())
	return &Runner{Config: c, base: base, stop: stop, runs: map[pawl.SessionID]*run{}, summarizer: agent.NewSummarizer(c.Stepper)}
}

// Close stops all work and waits for it to end. Open turns stay open: they are not canceled, and
// another process can resume them.
func (r *Runner) Close() {
	r.mu.Lock()
	r.stop(errShutdown)
	r.mu.Unlock()
	r.summarizer.Close()
	r.wg.Wait()
}

// Busy returns the number of sessions that are being worked on.
func (r *Runner) Busy() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.runs)
}

// Works reports whether this process works on the session now.
func (r *Runner) Works(id pawl.SessionID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[id] != nil
}

// Idle waits until no session is being worked on.
func (r *Runner) Idle(ctx context.Context) error {
	for {
		r.mu.Lock()
		var over chan struct{}
		for _, one := range r.runs {
			over = one.done
		}
		r.mu.Unlock()
		if over == nil {
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Start starts to work on the session. It returns nil if this process does already, and a
// *pawl.BusyError if another one does.
func (r *Runner) Start(ctx context.Context, id pawl.SessionID) error { return r.start(ctx, id, 0) }

// Cancel cancels the open turn and every prompt up to the given Seq. If no process works on the turn,
// this one takes it over and ends it.
func (r *Runner) Cancel(ctx context.Context, id pawl.SessionID, upTo pawl.Seq) error {
	return r.start(ctx, id, upTo)
}

func (r *Runner) start(ctx context.Context, id pawl.SessionID, cancel pawl.Seq) error {
	for {
		w, until := r.join(id, cancel)
		switch {
		case w == nil:
			return errShutdown
		case until == nil:
			return r.begin(ctx, id, w)
		}
		select {
		case <-until:
			if until == w.leased && w.err == nil {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// join returns the run of the session, cancels what is to be canceled, and returns what to wait for.
// If until is nil, the caller is the first and must begin the run. If the run is ending, the caller
// waits for its end and tries again: another process may have the session then. After Close, w is
// nil.
func (r *Runner) join(id pawl.SessionID, cancel pawl.Seq) (w *run, until chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base.Err() != nil {
		return nil, nil
	}
	w = r.runs[id]
	switch {
	case w == nil:
		w = &run{leased: make(chan struct{}), done: make(chan struct{}), canceled: cancel}
		r.runs[id] = w
		r.Stepper.Interrupt(id, cancel)
		r.wg.Add(1)
		return w, nil
	case w.ending:
		return w, w.done
	default:
		w.requests++
		w.cancel(cancel)
		r.Stepper.Interrupt(id, cancel)
		return w, w.leased
	}
}

// end marks the run as ending and returns true, unless it was requested again since the count was
// taken.
func (r *Runner) end(w *run, asked int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.ending = w.requests == asked
	return w.ending
}

// requestCount returns how often the run was requested.
func (r *Runner) requestCount(w *run) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.requests
}

// begin takes the lease and starts to work.
func (r *Runner) begin(ctx context.Context, id pawl.SessionID, w *run) error {
	if r.Admit != nil {
		w.err = r.Admit(ctx, id)
	}
	if w.err == nil {
		w.err = r.lease(ctx, id)
	}
	if w.err != nil {
		r.Stepper.Forget(id) // drop the cancel: another process has the session
		r.mu.Lock()
		delete(r.runs, id)
		r.mu.Unlock()
		close(w.leased)
		r.wg.Done()
		return w.err
	}
	close(w.leased)
	go func() {
		defer r.wg.Done()
		r.work(id, w)
	}()
	return nil
}

// cancel cancels the work on prompts up to seq, and on no others. The caller holds the runner's lock.
func (w *run) cancel(seq pawl.Seq) {
	w.canceled = max(w.canceled, seq)
	if w.cancelTurn != nil && w.prompt <= w.canceled {
		w.cancelTurn()
	}
}

// Answered does nothing: the step that waits receives the answer through the bus.
func (r *Runner) Answered(context.Context, pawl.SessionID) error { return nil }

// Wake makes sure that some process works on the session: this one, or the one that holds it. If that
// one dies, this process takes over.
func (r *Runner) Wake(ctx context.Context, id pawl.SessionID) error {
	err := r.Start(ctx, id)
	if !errors.Is(err, pawl.ErrBusy) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base.Err() != nil {
		return errShutdown
	}
	r.wg.Go(func() { r.standBy(id) })
	return nil
}

// standBy waits until the session is idle or this process can take it.
func (r *Runner) standBy(id pawl.SessionID) {
	tick := time.NewTicker(r.LeaseTTL / 30)
	defer tick.Stop()
	for {
		select {
		case <-r.base.Done():
			return
		case <-tick.C:
		}
		row, err := r.Stepper.Store.Session(r.base, id)
		if errors.Is(err, pawl.ErrNotFound) || err == nil && row.State() == pawl.StateIdle {
			return
		}
		if r.Start(r.base, id) == nil {
			return
		}
	}
}

// work works on the session until it is idle, then releases it.
func (r *Runner) work(id pawl.SessionID, w *run) {
	ctx, stop := context.WithCancelCause(r.base)
	var renewing sync.WaitGroup
	renewing.Go(func() { r.heartbeat(ctx, id, stop) })

	err := r.turns(ctx, id, w)
	r.mu.Lock()
	w.ending = true // also after an error
	r.mu.Unlock()
	r.Stepper.Forget(id)
	stop(nil)
	renewing.Wait() // otherwise it could take the lease again
	// Release the session even when the process is shutting down.
	released := r.Stepper.Store.Release(context.WithoutCancel(ctx), id, store.Owner(r.Owner.String()))
	r.mu.Lock()
	delete(r.runs, id)
	r.mu.Unlock()
	close(w.done)
	if err == nil && released == nil && r.base.Err() == nil {
		err = r.lookAgain(id)
	}
	if err != nil {
		r.Stepper.Bus.Publish(pawl.Event{Session: id, At: r.Stepper.Clock(), Body: pawl.Status{
			State: "interrupted", Message: err.Error(),
		}})
	}
}

// lookAgain closes the gap between the last read of the log and the release of the session: it wakes
// the session if another process appended something in between.
func (r *Runner) lookAgain(id pawl.SessionID) error {
	row, err := r.Stepper.Store.Session(r.base, id)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil // it was deleted
	}
	if err != nil || row.State() == pawl.StateIdle {
		return err
	}
	return r.Wake(r.base, id)
}

// turns runs one turn after the other until nothing waits.
func (r *Runner) turns(ctx context.Context, id pawl.SessionID, w *run) error {
	for {
		asked := r.requestCount(w)
		turn, ok, err := r.Stepper.Begin(ctx, id)
		if err == nil && ok {
			r.summarizer.Title(ctx, id)
			err = r.turn(ctx, w, turn)
		}
		if err != nil {
			return fmt.Errorf("work on session %s: %w", id, err)
		}
		if !ok && r.end(w, asked) {
			return nil
		}
	}
}

// turn runs one turn and logs its end, unless the process ends first.
func (r *Runner) turn(ctx context.Context, w *run, t agent.Turn) error {
	turnCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	w.prompt, w.cancelTurn = t.Prompt, cancel
	w.cancel(0) // it may be canceled already
	r.mu.Unlock()

	reason, err := agent.Run(turnCtx, r.Stepper, t)

	r.mu.Lock()
	w.cancelTurn = nil
	canceled := w.canceled
	r.mu.Unlock()
	stop, err := agent.StopOf(reason, err)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx) // shutdown or lost lease: the turn stays open
	case turnCtx.Err() != nil && ctx.Err() == nil:
		stop = agent.Stop{Reason: pawl.ReasonCanceled, UpTo: canceled} // even if the turn got to its end: the cancel was accepted
	case err == nil:
	default:
		return err
	}
	// The turn has ended: log that even when the process is shutting down.
	if err := r.Stepper.Finish(context.WithoutCancel(ctx), t, stop); err != nil {
		return err
	}
	r.summarizer.Summarize(ctx, t)
	return nil
}
