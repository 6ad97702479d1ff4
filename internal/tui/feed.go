package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// frame is how often what has come is shown at most: a reply that is written fast
// must not keep keys waiting.
const frame = 16 * time.Millisecond

// maxPending bounds the events that wait for the screen; the feed is read no
// further until they are taken.
const maxPending = 4096

// feed reads a session's events, and gives them out in batches.
type feed struct {
	id     pawl.SessionID
	cancel context.CancelFunc
	news   chan struct{}
	room   chan struct{}

	mu      sync.Mutex
	pending []pawl.Event
	err     error
	ended   bool
}

// newsMsg is what has come of a session.
type newsMsg struct {
	feed   *feed
	events []pawl.Event
	err    error // the feed has ended
}

// watch begins to read the events after the given Seq.
func watch(ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq) *feed {
	ctx, cancel := context.WithCancel(ctx)
	f := &feed{id: id, cancel: cancel, news: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	go f.read(ctx, svc, after)
	return f
}

func (f *feed) read(ctx context.Context, svc pawl.Service, after pawl.Seq) {
	for e, err := range svc.Events(ctx, f.id, after) {
		for !f.put(e, err) {
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
func (f *feed) put(e pawl.Event, err error) bool {
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

// next is a command that waits for what comes. Without news nothing runs.
func (f *feed) next(last time.Time) tea.Cmd {
	return func() tea.Msg {
		<-f.news
		if wait := frame - time.Since(last); wait > 0 {
			time.Sleep(wait)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		msg := newsMsg{feed: f, events: f.pending}
		f.pending = nil
		signal(f.room)
		if f.ended {
			msg.err = f.err
		}
		return msg
	}
}
