package bus

import (
	"math"

	"github.com/pawl-dev/pawl"
)

// Link carries events between the buses of several processes over one store. It
// may lose, repeat and reorder them: what is durable is healed from the store.
// A bus needs a link of its own: a link does not tell a bus what that bus sent.
//
// Which tenant a session belongs to is no part of it. A reader is shown nothing
// before the store, which knows tenants, has let it read the session.
type Link interface {
	// Send tells the other buses of events of one session. It never blocks, and
	// drops what finds no room.
	Send(id pawl.SessionID, events []pawl.Event)

	// Listen has hear called, by one goroutine at a time, with what other buses
	// send of a session, until stop is called; a last call may come just after.
	// An event without a body is a notice: the log has grown to its Seq. No events
	// at all mean that some may have been missed; a link says so once it hears of
	// the session, and whenever it has lost something. A bus listens once to a session.
	// Neither Listen nor stop blocks, and neither calls hear.
	Listen(id pawl.SessionID, hear func(events []pawl.Event)) (stop func())
}

// link begins to show what other buses send of a session.
func (b *Bus) link(id pawl.SessionID) (unlink func()) {
	if b.cfg.Link == nil {
		return func() {}
	}
	return b.cfg.Link.Listen(id, func(events []pawl.Event) {
		if len(events) == 0 {
			events = []pawl.Event{{Session: id, Seq: math.MaxInt64}} // a notice of all that there may be
		}
		b.show(id, genuine(id, events)...)
	})
}

// genuine returns the events that can be what another bus sent of the session:
// nothing of another session, and nothing numbered that no log has.
func genuine(id pawl.SessionID, events []pawl.Event) []pawl.Event {
	kept := make([]pawl.Event, 0, len(events))
	for _, e := range events {
		durable := e.Body == nil || pawl.KindOf(e.Body).Durable()
		if e.Session == id && durable == (e.Seq > 0) {
			kept = append(kept, e)
		}
	}
	return kept
}
