package nats

import (
	"errors"
	"maps"
	"slices"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
)

// listeners holds the listeners of a session.
type listeners struct {
	id   pawl.SessionID
	hear func([]pawl.Event)
}

// Listen subscribes to the session. See [bus.Link].
func (l *Link) Listen(id pawl.SessionID, hear func([]pawl.Event)) (stop func()) {
	e, subj := &listeners{id, hear}, subject(id)
	l.mu.Lock()
	l.listeners[subj], l.changed[subj] = e, true
	l.mu.Unlock()
	wake(l.wakeMaintain)
	return func() {
		l.mu.Lock()
		if l.listeners[subj] == e {
			delete(l.listeners, subj)
			l.changed[subj] = true
		}
		l.mu.Unlock()
		wake(l.wakeMaintain)
	}
}

// fault handles asynchronous errors. Connection errors lead to a new connection; after dropped messages the
// listeners must read the store.
func (l *Link) fault(_ *client.Conn, sub *client.Subscription, err error) {
	if sub != nil && errors.Is(err, client.ErrSlowConsumer) {
		l.lost.Add(1)
		l.reportMissed(sub.Subject)
	}
}

// reportMissed makes the listener report that events may have been missed.
func (l *Link) reportMissed(subjects ...string) {
	if len(subjects) == 0 {
		return
	}
	l.mu.Lock()
	for _, subj := range subjects {
		l.missed[subj] = true
	}
	l.mu.Unlock()
	wake(l.wakeListener)
}

// listener delivers messages. It is the only goroutine that calls listeners.
func (l *Link) listener() {
	for {
		select {
		case m := <-l.arrived:
			l.deliver(m)
		case <-l.wakeListener:
			// Deliver what has arrived first, to make space for what follows.
			for range len(l.arrived) {
				l.deliver(<-l.arrived)
			}
			l.showMissed()
		case <-l.stop:
			return
		}
	}
}

// deliver delivers a message. An invalid one, perhaps of a newer version, counts as missed.
func (l *Link) deliver(m *client.Msg) {
	l.mu.Lock()
	e := l.listeners[m.Subject]
	l.mu.Unlock()
	if e == nil {
		return
	}
	events, err := unpack(e.id, m.Data)
	if err != nil {
		l.lost.Add(1)
		e.hear(nil)
		return
	}
	l.received.Add(1)
	if len(events) > 0 {
		e.hear(events)
	}
}

func (l *Link) showMissed() {
	l.mu.Lock()
	var ears []*listeners
	for subj := range l.missed {
		if e := l.listeners[subj]; e != nil {
			ears = append(ears, e)
		}
	}
	clear(l.missed)
	l.mu.Unlock()
	for _, e := range ears {
		e.hear(nil)
	}
}

// listened returns the subjects of all listeners.
func (l *Link) listened() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.listeners))
}
