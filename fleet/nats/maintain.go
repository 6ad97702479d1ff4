package nats

import (
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
)

// maintain keeps the subscriptions up to date, and detects messages that the server may not have received.
func (l *Link) maintain() {
	subs := map[string]*client.Subscription{}
	var recent []string // listeners since the last tick
	tick := time.NewTicker(confirmEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.wakeMaintain:
		case <-tick.C:
			l.reportMissed(recent...) // other servers of a cluster may only have learned about them now
			recent = nil
		case <-l.stop:
			return
		}
		joined := l.subscribe(subs)
		recent = append(recent, joined...)
		l.confirm(joined)
	}
}

// subscribe updates the subscriptions, and returns the new subjects. Without a server they take effect on the
// next connection.
func (l *Link) subscribe(subs map[string]*client.Subscription) (joined []string) {
	l.mu.Lock()
	changed := l.changed
	l.changed = map[string]bool{}
	wanted := map[string]bool{}
	for subj := range changed {
		wanted[subj] = l.listeners[subj] != nil
	}
	l.mu.Unlock()
	for subj, want := range wanted {
		sub := subs[subj]
		switch {
		case want:
			joined = append(joined, subj) // also a listener that left and came back, as it may have missed events
			if sub != nil {
				continue
			}
			sub, err := l.conn.ChanSubscribe(subj, l.arrived)
			if err == nil { // otherwise the link is closed, and listeners poll
				subs[subj] = sub
			}
		case sub != nil:
			_ = sub.Unsubscribe() // fails only if the link is closed
			delete(subs, subj)
		}
	}
	return joined
}

// confirm waits until the server has received everything that was sent before. Then it makes new listeners read
// the store again, because they missed events sent between their first read and now. If the connection is new
// or something was dropped, it notifies other processes again about sessions that grew.
func (l *Link) confirm(joined []string) {
	if !l.up.Load() {
		return // everything is repeated with the next connection
	}
	l.mu.Lock()
	unconfirmed, repeat, renewed := l.unconfirmed, l.repeat, l.renewed
	if len(joined) == 0 && len(unconfirmed) == 0 && !renewed {
		l.mu.Unlock()
		return
	}
	l.unconfirmed, l.repeat, l.renewed = map[pawl.SessionID]pawl.Seq{}, false, false
	l.mu.Unlock()
	var err error
	if repeat {
		err = l.notify(unconfirmed)
	}
	if err == nil {
		err = l.conn.FlushTimeout(confirmTimeout)
	}
	switch {
	case err != nil:
		l.repeatLater(unconfirmed)
	case renewed:
		l.reportMissed(l.listened()...)
	default:
		l.reportMissed(joined...)
	}
}

// notify sends a notice for each session.
func (l *Link) notify(heads map[pawl.SessionID]pawl.Seq) error {
	for id, seq := range heads {
		if err := l.conn.Publish(subject(id), []byte("["+strconv.FormatInt(int64(seq), 10)+"]")); err != nil {
			return err
		}
		l.sent.Add(1)
	}
	return nil
}

// repeatLater repeats the notices with the next tick or connection.
func (l *Link) repeatLater(unconfirmed map[pawl.SessionID]pawl.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, seq := range unconfirmed {
		l.remember(id, seq)
	}
	l.repeat, l.renewed = true, true
}
