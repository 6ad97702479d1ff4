// Package eventfeed reads sessions for the screen: what is there already a page at a
// time, and what comes in batches.
package eventfeed

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// frame is how often what has come is shown at most: a reply that is written fast
// must not keep keys waiting.
const minInterval = 16 * time.Millisecond

// maxPending bounds the events that wait for the screen; the feed is read no
// further until they are taken.
const maxPending = 4096

// Feed reads a session's events, and gives them out in batches.
type Feed struct {
	cancel context.CancelFunc
	news   chan struct{}
	room   chan struct{}

	mu      sync.Mutex
	pending []pawl.Event
	err     error
	ended   bool
}

// News is what has come of a session.
type News struct {
	Feed   *Feed
	Events []pawl.Event
	Err    error // the feed has ended
}

// Watch begins to read the events after the given Seq.
func Watch(ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq) *Feed {
	ctx, cancel := context.WithCancel(ctx)
	f := &Feed{cancel: cancel, news: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	go f.read(ctx, svc, id, after)
	return f
}

// Close ends the reading. News of it may still come.
func (f *Feed) Close() {
	if f != nil {
		f.cancel()
	}
}

func (f *Feed) read(ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq) {
	for e, err := range svc.Events(ctx, id, after) {
		for !f.add(e, err) {
			select {
			case <-f.room:
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

// put keeps an event for the screen. It returns false if there is no room.
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

// Next is a command that waits for what comes. Without news nothing runs.
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
		signal(f.room)
		if f.ended {
			msg.Err = f.err
		}
		return msg
	}
}
