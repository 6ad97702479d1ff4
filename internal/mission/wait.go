package mission

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// liveness is when a worker last showed activity.
type liveness struct {
	at     time.Time
	pinged bool // it was asked for a sign of life since then
}

// maxTick bounds the interval between two checks of budgets and stuck workers.
const maxTick = 15 * time.Second

// wait waits until a worker has ended or is stuck, or a person steers the session (prompted). It enforces the
// budgets in the meantime.
func (c *Control) wait(ctx context.Context, b missionapi.Journal, f *resources, m *pawl.Mission) (prompted bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := make(chan activity, 64)
	for _, t := range m.In(pawl.PhaseRunning) {
		if err := c.follow(ctx, t.Worker, heard); err != nil {
			return false, err
		}
	}
	if err := c.follow(ctx, b.Session(), heard); err != nil {
		return false, err
	}
	if prompted, err = b.Steered(ctx); err != nil || prompted { // a prompt from before follow
		return prompted, err
	}
	tick := time.NewTicker(tickOf(stuckAfter(m)))
	defer tick.Stop()
	for began := c.Clock(); ; {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case h := <-heard:
			switch {
			case h.session == b.Session() && h.prompt:
				return true, nil
			case h.session == b.Session():
			case h.over:
				return false, nil
			default:
				f.noteActivity(h.session, c.Clock())
			}
		case <-tick.C:
			if err := b.Spent(ctx); err != nil {
				return false, err
			}
			for _, t := range m.In(pawl.PhaseRunning) {
				if f.idleFor(t.Worker, c.Clock()) > stuckAfter(m) {
					return false, nil // step asks or stops it
				}
			}
			if err := b.Suspend(began, stuckAfter(m)/4); err != nil {
				return false, err
			}
		}
	}
}

// tickOf returns the interval between checks, given the time after which a worker is stuck.
func tickOf(stuck time.Duration) time.Duration {
	return min(maxTick, max(stuck/4, 10*time.Millisecond))
}

func stuckAfter(m *pawl.Mission) time.Duration {
	if m.Order.Stuck > 0 {
		return m.Order.Stuck
	}
	return pawl.MissionStuck
}

// activity is an activity of a session.
type activity struct {
	session pawl.SessionID
	over    bool // its turn has ended, or was interrupted
	prompt  bool // a steering prompt
}

// follow sends the activity of a session to a channel until ctx ends or the session does. It reports an idle
// session at once.
func (c *Control) follow(ctx context.Context, id pawl.SessionID, to chan<- activity) error {
	row, err := c.Sessions.Get(ctx, id)
	if err != nil {
		return err
	}
	send := func(h activity) bool {
		select {
		case to <- h:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		if row.State() == pawl.StateIdle && !send(activity{session: id, over: true}) {
			return
		}
		for e, err := range c.Sessions.Events(ctx, id, row.Head) {
			h := activity{session: id, over: err != nil}
			switch body := e.Body.(type) {
			case pawl.TurnFinished:
				h.over = true
			case pawl.Status:
				h.over = body.State == "interrupted"
			case pawl.Prompted:
				h.prompt = body.Delivery == pawl.DeliverSteer
			default: // any other event is activity
			}
			if !send(h) || h.over {
				return
			}
		}
	}()
	return nil
}

// noteActivity records activity of a worker.
func (f *resources) noteActivity(id pawl.SessionID, at time.Time) {
	if s := f.live[id]; s != nil {
		*s = liveness{at: at}
	}
}

// noteUpdate records activity by the session's update time, in case nobody was listening.
func (f *resources) noteUpdate(row pawl.Session) {
	if s := f.live[row.ID]; s != nil && row.Updated.After(s.at) {
		*s = liveness{at: row.Updated}
	}
}

// idleFor returns how long a worker has shown no activity.
func (f *resources) idleFor(id pawl.SessionID, now time.Time) time.Duration {
	if s := f.live[id]; s != nil {
		return now.Sub(s.at)
	}
	return 0
}

const pingText = "You have made no progress for a while. If you are waiting for something, stop waiting. State your progress in one sentence, and continue."

// checkStuck asks a stuck worker for a sign of life, and stops it if it stays stuck.
func (c *Control) checkStuck(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState) error {
	s := f.live[t.Worker]
	if c.Clock().Sub(s.at) <= stuckAfter(b.Mission()) {
		return nil
	}
	if !s.pinged {
		err := c.steer(ctx, t.Worker, pingText)
		*s = liveness{at: c.Clock(), pinged: true} // any later activity counts as an answer
		return err
	}
	end, err := c.cancelAndWait(ctx, t.Worker)
	if err != nil {
		return err
	}
	return c.returnPartial(ctx, b, f, t, labelOf(b.Session(), t, end), pawl.ReturnStuck, "Its worker gave no sign for too long and was ended.\n"+end.text)
}

// steer sends a steering prompt to a worker.
func (c *Control) steer(ctx context.Context, worker pawl.SessionID, text string) error {
	_, err := c.Sessions.Send(ctx, worker, pawl.Prompt{
		Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: pawl.DeliverSteer, Settings: pawl.Settings{Agent: missionapi.AgentWorker},
	})
	return err
}

// endGrace bounds how long cancelAndWait waits.
const endGrace = 20 * time.Second

// cancelAndWait cancels a session and waits until it has ended, up to endGrace.
func (c *Control) cancelAndWait(ctx context.Context, id pawl.SessionID) (turnEnd, error) {
	if err := c.Sessions.Cancel(ctx, id); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return turnEnd{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	return c.await(ctx, id)
}

// await waits until a session is idle.
func (c *Control) await(ctx context.Context, id pawl.SessionID) (turnEnd, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		row, err := c.Sessions.Get(ctx, id)
		if err != nil {
			return turnEnd{}, err
		}
		if row.State() == pawl.StateIdle {
			return c.lastTurn(ctx, row)
		}
		if err := c.Sessions.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
			return turnEnd{}, err
		}
		to := make(chan activity)
		listening, stop := context.WithCancel(ctx)
		if err := c.follow(listening, id, to); err != nil {
			stop()
			return turnEnd{}, err
		}
		for h := (activity{}); !h.over; {
			select {
			case h = <-to:
			case <-ctx.Done():
				stop()
				return turnEnd{}, context.Cause(ctx)
			}
		}
		stop()
	}
}
