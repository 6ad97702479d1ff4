// Package local runs turns in this process. The log makes them resumable and a
// lease keeps other processes off a session that is being worked on.
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
)

// Config is what a Runner needs.
type Config struct {
	Stepper  *agent.Stepper
	Owner    proc.Identity // the zero value means this process
	LeaseTTL time.Duration // 0 means 15 s
}

// Runner works on sessions, each in a goroutine of its own.
type Runner struct {
	Config
	base context.Context //nolint:containedctx // the life of the runner: what every turn's context hangs on
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	runs map[pawl.SessionID]*run
}

// run is the work on one session.
type run struct {
	again      bool               // asked for while it was about to end
	canceled   pawl.Seq           // prompts up to here are not to be worked on
	cancelTurn context.CancelFunc // ends the turn at work; nil between turns
}

// errShutdown takes the work away from every turn; see agent.Stepper.
var errShutdown = errors.New("pawl is shutting down")

// New returns a Runner. Close it.
func New(c Config) *Runner {
	if c.Owner == (proc.Identity{}) {
		c.Owner = proc.Self()
	}
	if c.LeaseTTL == 0 {
		c.LeaseTTL = 15 * time.Second
	}
	base, stop := context.WithCancelCause(context.Background())
	return &Runner{Config: c, base: base, stop: stop, runs: map[pawl.SessionID]*run{}}
}

// Close stops all work and waits for it to end. Open turns stay open: they are
// not canceled, and whoever comes next can resume them.
func (r *Runner) Close() {
	r.stop(errShutdown)
	r.wg.Wait()
}

// Start begins to work on what the session has to do. It is no error if this
// process does already; a *pawl.BusyError if another one does.
func (r *Runner) Start(ctx context.Context, id pawl.SessionID) error { return r.start(ctx, id, 0) }

// Cancel ends the open turn and every prompt up to the given Seq. A turn that
// nobody works on is taken over and ended.
func (r *Runner) Cancel(ctx context.Context, id pawl.SessionID, upTo pawl.Seq) error {
	return r.start(ctx, id, upTo)
}

func (r *Runner) start(ctx context.Context, id pawl.SessionID, cancel pawl.Seq) error {
	r.mu.Lock()
	if w := r.runs[id]; w != nil {
		w.again = true
		w.canceled = max(w.canceled, cancel)
		if cancel > 0 && w.cancelTurn != nil {
			w.cancelTurn()
		}
		r.mu.Unlock()
		return nil
	}
	w := &run{canceled: cancel}
	r.runs[id] = w // holds the place while the lease is taken
	r.mu.Unlock()

	if err := r.lease(ctx, id); err != nil {
		r.mu.Lock()
		delete(r.runs, id)
		r.mu.Unlock()
		return err
	}
	r.wg.Go(func() { r.work(id, w) })
	return nil
}

// Wake makes sure that somebody works on the session: this process, or the one
// that holds it; should that one die, this process goes on.
func (r *Runner) Wake(ctx context.Context, id pawl.SessionID) error {
	err := r.Start(ctx, id)
	if errors.Is(err, pawl.ErrBusy) {
		r.wg.Go(func() { r.standBy(id) })
		return nil
	}
	return err
}

// standBy waits until the session is done or can be had.
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
		if err != nil || row.State() == pawl.StateIdle {
			return
		}
		if err := r.Start(r.base, id); !errors.Is(err, pawl.ErrBusy) {
			return
		}
	}
}

// work does all that the session has to do, then gives it back.
func (r *Runner) work(id pawl.SessionID, w *run) {
	ctx, lost := context.WithCancelCause(r.base)
	defer lost(nil)
	r.wg.Go(func() { r.heartbeat(ctx, id, lost) })

	err := r.turns(ctx, id, w)
	if err != nil {
		r.Stepper.Bus.Publish(pawl.Event{Session: id, At: r.Stepper.Clock(), Body: pawl.Status{
			State: "interrupted", Message: err.Error(),
		}})
	}
	r.Stepper.Forget(id)
	// The session is given back even when the process is on its way out.
	_ = r.Stepper.Store.Release(context.WithoutCancel(ctx), id, pawl.Owner(r.Owner.String()))
	if err == nil {
		r.lookAgain(id)
	}
}

// lookAgain closes the gap between the last look at the log and the lease's
// release: a prompt that another process put there meanwhile is not left lying.
func (r *Runner) lookAgain(id pawl.SessionID) {
	if row, err := r.Stepper.Store.Session(r.base, id); err == nil && row.State() != pawl.StateIdle {
		_ = r.Wake(r.base, id) // whoever appended it is awake too
	}
}

// turns works on one turn after the other until nothing waits.
func (r *Runner) turns(ctx context.Context, id pawl.SessionID, w *run) error {
	for {
		turn, ok, err := r.Stepper.Begin(ctx, id)
		if err == nil && ok {
			err = r.turn(ctx, w, turn)
		}
		if ok && err == nil {
			continue
		}
		r.mu.Lock()
		if err == nil && w.again {
			w.again = false
			r.mu.Unlock()
			continue
		}
		delete(r.runs, id)
		r.mu.Unlock()
		if err != nil {
			return fmt.Errorf("work on session %s: %w", id, err)
		}
		return nil
	}
}

// turn works on one turn and writes its end, unless the process ends first.
func (r *Runner) turn(ctx context.Context, w *run, t pawl.Turn) error {
	turnCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	w.cancelTurn = cancel
	if t.Prompt <= w.canceled {
		cancel()
	}
	r.mu.Unlock()

	reason, err := agent.Run(turnCtx, r.Stepper, t)

	r.mu.Lock()
	w.cancelTurn = nil
	r.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx) // the process ends, or the lease is lost: the turn stays open
	}
	stop, err := pawl.StopOf(reason, err)
	if err != nil {
		return err
	}
	return r.Stepper.Finish(ctx, t, stop)
}
