package mission

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
)

// sign is when a worker last gave one.
type sign struct {
	at    time.Time
	asked bool // since then it was asked whether it is still there
}

// maxTick bounds the time between two looks at budgets and at workers that give no
// sign.
const maxTick = 15 * time.Second

// wait waits until a worker has ended, one gives no sign for too long, or a person
// says something. It looks at the budgets meanwhile.
func (c *Control) wait(ctx context.Context, b pawl.MissionJournal, f *field, m *pawl.Mission) (prompted bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := make(chan heard, 64)
	for _, t := range m.In(pawl.PhaseRunning) {
		if err := c.listen(ctx, t.Child, heard); err != nil {
			return false, err
		}
	}
	if err := c.listen(ctx, b.Session(), heard); err != nil {
		return false, err
	}
	if prompted, err = b.Steered(ctx); err != nil || prompted { // before it was listened
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
				f.heard(h.session, c.Clock())
			}
		case <-tick.C:
			if err := b.Spent(ctx); err != nil {
				return false, err
			}
			for _, t := range m.In(pawl.PhaseRunning) {
				if f.silent(t.Child, c.Clock()) > stuckAfter(m) {
					return false, nil // watch asks it, or ends it
				}
			}
			if err := b.Park(began, stuckAfter(m)/4); err != nil {
				return false, err
			}
		}
	}
}

// tickOf is the time between two looks, where a worker is stuck after some time.
func tickOf(stuck time.Duration) time.Duration {
	return min(maxTick, max(stuck/4, 10*time.Millisecond))
}

func stuckAfter(m *pawl.Mission) time.Duration {
	if m.Order.Stuck > 0 {
		return m.Order.Stuck
	}
	return pawl.MissionStuck
}

// heard is a sign of a session.
type heard struct {
	session pawl.SessionID
	over    bool // its work has ended, or was taken away
	prompt  bool // somebody steers it
}

// listen hears what a session does from now on. One that has ended is heard of at once.
func (c *Control) listen(ctx context.Context, id pawl.SessionID, to chan<- heard) error {
	row, err := c.Sessions.Get(ctx, id)
	if err != nil {
		return err
	}
	send := func(h heard) bool {
		select {
		case to <- h:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		if row.State() == pawl.StateIdle && !send(heard{session: id, over: true}) {
			return
		}
		for e, err := range c.Sessions.Events(ctx, id, row.Head) {
			h := heard{session: id, over: err != nil}
			switch body := e.Body.(type) {
			case pawl.TurnFinished:
				h.over = true
			case pawl.Status:
				h.over = body.State == "interrupted"
			case pawl.Prompted:
				h.prompt = body.Delivery == pawl.DeliverSteer
			default: // a sign of life
			}
			if !send(h) || h.over {
				return
			}
		}
	}()
	return nil
}

// heard notes that a worker has given a sign.
func (f *field) heard(id pawl.SessionID, at time.Time) {
	if s := f.seen[id]; s != nil {
		*s = sign{at: at}
	}
}

// told notes what a worker's row tells of it, in case nobody has listened.
func (f *field) told(row pawl.Session) {
	if s := f.seen[row.ID]; s != nil && row.Updated.After(s.at) {
		*s = sign{at: row.Updated}
	}
}

// silent is for how long a worker has given no sign.
func (f *field) silent(id pawl.SessionID, now time.Time) time.Duration {
	if s := f.seen[id]; s != nil {
		return now.Sub(s.at)
	}
	return 0
}

const areYouThere = "There was no sign of you for a while. If you wait for something, stop waiting for it. Say in one sentence where you are, and go on."

// watch asks a worker that gives no sign, and ends it if that does not help.
func (c *Control) watch(ctx context.Context, b pawl.MissionJournal, f *field, t pawl.TaskState) error {
	s := f.seen[t.Child]
	if c.Clock().Sub(s.at) <= stuckAfter(b.Mission()) {
		return nil
	}
	if !s.asked {
		err := c.steer(ctx, t.Child, areYouThere)
		*s = sign{at: c.Clock(), asked: true} // what it says from now on is an answer
		return err
	}
	end, err := c.end(ctx, t.Child)
	if err != nil {
		return err
	}
	return c.sendBack(ctx, b, f, t, labelOf(b.Session(), t, end), pawl.ReturnStuck, "Its worker gave no sign for too long and was ended.\n"+end.text)
}

// steer says something to a worker, which reads it before its next step.
func (c *Control) steer(ctx context.Context, worker pawl.SessionID, text string) error {
	_, err := c.Sessions.Send(ctx, worker, pawl.Prompt{
		Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: pawl.DeliverSteer, Settings: pawl.Settings{Agent: pawl.AgentWorker},
	})
	return err
}

// endGrace bounds how long the end of a session that is canceled is waited for.
const endGrace = 20 * time.Second

// end ends a session's work and waits for that, though not forever.
func (c *Control) end(ctx context.Context, id pawl.SessionID) (ended, error) {
	if err := c.Sessions.Cancel(ctx, id); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	return c.await(ctx, id)
}

// await waits until a session has nothing to do.
func (c *Control) await(ctx context.Context, id pawl.SessionID) (ended, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		row, err := c.Sessions.Get(ctx, id)
		if err != nil {
			return ended{}, err
		}
		if row.State() == pawl.StateIdle {
			return c.endOf(ctx, row)
		}
		if err := c.Sessions.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
			return ended{}, err
		}
		to := make(chan heard)
		listening, stop := context.WithCancel(ctx)
		if err := c.listen(listening, id, to); err != nil {
			stop()
			return ended{}, err
		}
		for h := (heard{}); !h.over; {
			select {
			case h = <-to:
			case <-ctx.Done():
				stop()
				return ended{}, context.Cause(ctx)
			}
		}
		stop()
	}
}
