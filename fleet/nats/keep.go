package nats

import (
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
)

// keeper keeps the subscriptions as those who listen want them, and finds out
// what the server may not have got.
func (l *Link) keeper() {
	subs := map[string]*client.Subscription{}
	var young []string // who began to listen since the last beat
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-l.wakeKeeper:
		case <-tick.C:
			l.miss(young...) // the other servers of a cluster may have learned of them only now
			young = nil
		case <-l.stop:
			return
		}
		joined := l.subscribe(subs)
		young = append(young, joined...)
		l.settle(joined)
	}
}

// subscribe follows who came and went, and returns the subjects that are new.
// Without a server it only notes them, for when there is one.
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
			joined = append(joined, subj) // also one that left and came back: it too may have missed something
			if sub != nil {
				continue
			}
			sub, err := l.conn.ChanSubscribe(subj, l.arrived)
			if err == nil { // else the link is closed, and who listens polls
				subs[subj] = sub
			}
		case sub != nil:
			_ = sub.Unsubscribe() // fails only if the link is closed
			delete(subs, subj)
		}
	}
	return joined
}

// settle waits until the server has got all that was sent before, and then has
// those who began to listen look at the store once more, because events that were
// sent between their first look and now did not come here. If the connection is
// new or something was dropped, the others are told again of what grew.
func (l *Link) settle(joined []string) {
	if !l.up.Load() {
		return // all is done anew with the next connection
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

// again has all done once more with the next beat, or the next connection.
func (l *Link) again(unsure map[pawl.SessionID]pawl.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, seq := range unsure {
		l.remember(id, seq)
	}
	l.repeat, l.renewed = true, true
}
