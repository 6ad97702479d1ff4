// Package eventfeed reads a session's events for the screen: past ones by pages, new
// ones in batches.
package eventfeed

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// minInterval is the shortest time between two batches, so that a fast reply does not
// delay keys.
const minInterval = 16 * time.Millisecond

// maxPending bounds the events that wait for the screen; reading pauses until they are
// taken.
const maxPending = 4096

// Feed reads a session's events and delivers them in batches.
type Feed struct {
	cancel context.CancelFunc
	news   chan struct{}
	taken  chan struct{}

	mu      sync.Mutex
	pending []pawl.Event
	err     error
	ended   bool
}

// News is a batch of events.
type News struct {
	Feed   *Feed
	Events []pawl.Event
	Err    error // the feed has ended
}

// Watch starts reading the events after a Seq.
func Watch(ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq) *Feed {
	ctx, cancel := context.WithCancel(ctx)
	f := &Feed{cancel: cancel, news: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
	go f.read(ctx, svc, id, after)
	return f
}

// Close stops reading. A batch may still be delivered.
func (f *Feed) Close() {
	if f != nil {
		f.cancel()
	}
}

func (f *Feed) read(ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq) {
	for e, err := range svc.Events(ctx, id, after) {
		for !f.add(e, err) {
			select {
			case <-f.taken:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	signal(f.news)
}

// add adds an event to the batch. It returns false if the batch is full.
func (f *Feed) add(e pawl.Event, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
		f.err, f.ended = err, true
	case len(f.pending) >= maxPending:
		return false
	default:
		f.pending = append(f.pending, e)
	}
	signal(f.news)
	return true
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Next returns a command that waits for the next batch.
func (f *Feed) Next(last time.Time) tea.Cmd {
	return func() tea.Msg {
		<-f.news
		if wait := minInterval - time.Since(last); wait > 0 {
			time.Sleep(wait)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		msg := News{Feed: f, Events: f.pending}
		f.pending = nil
		signal(f.taken)
		if f.ended {
			msg.Err = f.err
		}
		return msg
	}
}
