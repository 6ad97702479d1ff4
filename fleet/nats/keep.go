package nats

import (
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
)

// keeper keeps the subscriptions up to date, and detects messages that the server may not have received.
func (l *Link) keeper() {
	subs := map[string]*client.Subscription{}
	var young []string // listeners since the last tick
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-l.wakeKeeper:
		case <-tick.C:
			l.miss(young...) // other servers of a cluster may only have learned about them now
			young = nil
		case <-l.stop:
			return
		}
		joined := l.subscribe(subs)
		young = append(young, joined...)
		l.settle(joined)
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
		wanted[subj] = l.ears[subj] != nil
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

// settle waits until the server has received everything that was sent before. Then it makes new listeners read
// the store again, because they missed events sent between their first read and now. If the connection is new
// or something was dropped, it notifies other processes again about sessions that grew.
func (l *Link) settle(joined []string) {
	if !l.up.Load() {
		return // everything is repeated with the next connection
	}
	l.mu.Lock()
	unsure, repeat, renewed := l.unsure, l.repeat, l.renewed
	if len(joined) == 0 && len(unsure) == 0 && !renewed {
		l.mu.Unlock()
		return
	}
	l.unsure, l.repeat, l.renewed = map[pawl.SessionID]pawl.Seq{}, false, false
	l.mu.Unlock()
	var err error
	if repeat {
		err = l.notify(unsure)
	}
	if err == nil {
		err = l.conn.FlushTimeout(roundTrip)
	}
	switch {
	case err != nil:
		l.again(unsure)
	case renewed:
		l.miss(l.listened()...)
	default:
		l.miss(joined...)
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

// again repeats the notices with the next tick or connection.
func (l *Link) again(unsure map[pawl.SessionID]pawl.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, seq := range unsure {
		l.remember(id, seq)
	}
	l.repeat, l.renewed = true, true
}
