package nats

import (
	"errors"
	"maps"
	"slices"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
)

// ear is who listens to a session.
type ear struct {
	id   pawl.SessionID
	hear func([]pawl.Event)
}

// Listen has the keeper subscribe to the session. See [bus.Link].
func (l *Link) Listen(id pawl.SessionID, hear func([]pawl.Event)) (stop func()) {
	e, subj := &ear{id, hear}, subject(id)
	l.mu.Lock()
	l.ears[subj], l.changed[subj] = e, true
	l.mu.Unlock()
	wake(l.wakeKeeper)
	return func() {
		l.mu.Lock()
		if l.ears[subj] == e {
			delete(l.ears, subj)
			l.changed[subj] = true
		}
		l.mu.Unlock()
		wake(l.wakeKeeper)
	}
}

// fault hears of what went wrong beside the calls. Errors of the connection end
// in a new one; what was dropped on arrival must be looked for.
func (l *Link) fault(_ *client.Conn, sub *client.Subscription, err error) {
	if sub != nil && errors.Is(err, client.ErrSlowConsumer) {
		l.lost.Add(1)
		l.miss(sub.Subject)
	}
}

// miss has the listener say that something may have been missed.
func (l *Link) miss(subjects ...string) {
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

// listener shows what arrives. It alone calls those who listen.
func (l *Link) listener() {
	for {
		select {
		case m := <-l.arrived:
			l.show(m)
		case <-l.wakeListener:
			// What has arrived comes first, so that there is room again for what follows.
			for range len(l.arrived) {
				l.show(<-l.arrived)
			}
			l.showMissed()
		case <-l.stop:
			return
		}
	}
}

// show hands a message to who listens. One that makes no sense, of a newer pawl
// perhaps, is as good as missed.
func (l *Link) show(m *client.Msg) {
	l.mu.Lock()
	e := l.ears[m.Subject]
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
	var ears []*ear
	for subj := range l.missed {
		if e := l.ears[subj]; e != nil {
			ears = append(ears, e)
		}
	}
	clear(l.missed)
	l.mu.Unlock()
	for _, e := range ears {
		e.hear(nil)
	}
}

// listened returns the subjects of all who listen.
func (l *Link) listened() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.ears))
}
