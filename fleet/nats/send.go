package nats

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Send queues the events for the sender. See [bus.Link].
func (l *Link) Send(id pawl.SessionID, events []pawl.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up.Load() || len(l.queue)+len(events) > maxQueue {
		l.remember(id, head(events))
		l.drop(len(events))
		return
	}
	l.queue = append(l.queue, events...)
	wake(l.wakeSender)
}

// head returns the Seq of the last durable event, or 0.
func head(events []pawl.Event) pawl.Seq {
	last := pawl.Seq(0)
	for _, e := range events {
		last = max(last, e.Seq)
	}
	return last
}

// remember notes that the log of a session has grown. Beyond maxUnconfirmed sessions it does nothing, and listeners
// find out by polling.
func (l *Link) remember(id pawl.SessionID, seq pawl.Seq) {
	if _, known := l.unconfirmed[id]; seq > 0 && (known || len(l.unconfirmed) < maxUnconfirmed) {
		l.unconfirmed[id] = max(l.unconfirmed[id], seq)
	}
}

// drop counts events that are not sent, and makes maintain send a notice.
func (l *Link) drop(events int) {
	l.lost.Add(int64(events))
	l.repeat = true
	if l.up.Load() {
		wake(l.wakeMaintain)
	}
}

// sender sends the queued events in batches. It is the only goroutine that waits for a slow server.
func (l *Link) sender() {
	var batch []pawl.Event
	for {
		select {
		case <-l.wakeSender:
			batch = l.sendQueued(batch)
		case <-l.stop:
			l.sendQueued(batch)
			if l.up.Load() {
				_ = l.conn.FlushTimeout(confirmTimeout) // what is lost now is found by polling
			}
			return
		}
	}
}

// sendQueued sends the queue, using spare for new events, and returns it to be the next spare.
func (l *Link) sendQueued(spare []pawl.Event) []pawl.Event {
	clear(spare) // release the bodies
	l.mu.Lock()
	batch := l.queue
	l.queue = spare[:0]
	l.mu.Unlock()
	slices.SortStableFunc(batch, func(a, b pawl.Event) int { return strings.Compare(string(a.Session), string(b.Session)) })
	for rest := batch; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Session == rest[0].Session {
			n++
		}
		l.sendOf(rest[0].Session, rest[:n])
		rest = rest[n:]
	}
	return batch
}

// sendOf sends events of one session, in as few messages as possible.
func (l *Link) sendOf(id pawl.SessionID, events []pawl.Event) {
	limit := maxMessage
	if served := l.conn.MaxPayload(); served > 0 {
		limit = min(limit, int(served))
	}
	connection := l.connects.Load()
	messages, lost := pack(join(events), limit)
	for _, m := range messages {
		if err := l.conn.Publish(subject(id), m); err != nil {
			lost++
			continue
		}
		l.sent.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Only now, so that maintain does not confirm what was not sent yet.
	l.remember(id, head(events))
	if lost > 0 || connection != l.connects.Load() {
		l.drop(lost)
	}
}
