package bus

import (
	"math"

	"github.com/pawl-dev/pawl"
)

// Link carries events between the buses of several processes over one store. It may lose,
// repeat and reorder them: the bus reads what it misses from the store. Each bus needs a link
// of its own, which does not deliver what that bus sent.
//
// A Link knows no tenants. A reader receives nothing before the store, which does, has let it
// read the session.
type Link interface {
	// Send sends events of one session to the other buses. It never blocks, and drops events
	// when its buffers are full.
	Send(id pawl.SessionID, events []pawl.Event)

	// Listen calls receive, from one goroutine at a time, with the events that other buses send
	// for a session, until stop is called; a last call may come just after. An event without a
	// body is a notice: the log has grown to its Seq. No events at all mean that some may have
	// been missed: a link says so when it starts to receive for the session, and whenever it has
	// lost something. A bus listens once to a session. Neither Listen nor stop blocks, and
	// neither calls receive.
	Listen(id pawl.SessionID, receive func(events []pawl.Event)) (stop func())
}

// link starts to deliver the events that other buses send for a session.
func (b *Bus) link(id pawl.SessionID) (unlink func()) {
	if b.cfg.Link == nil {
		return func() {}
	}
	return b.cfg.Link.Listen(id, func(events []pawl.Event) {
		if len(events) == 0 {
			events = []pawl.Event{{Session: id, Seq: math.MaxInt64}} // a notice that everything may be new
		}
		b.deliver(id, valid(id, events)...)
	})
}

// valid returns the events that another bus can have sent for the session: none of another session,
// and none with a Seq that no log has.
func valid(id pawl.SessionID, events []pawl.Event) []pawl.Event {
	kept := make([]pawl.Event, 0, len(events))
	for _, e := range events {
		durable := e.Body == nil || pawl.KindOf(e.Body).Durable()
		if e.Session == id && durable == (e.Seq > 0) {
			kept = append(kept, e)
		}
	}
	return kept
}
