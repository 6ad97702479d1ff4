// Package bus delivers the events of sessions to readers: first those in the store, then new
// ones. The store is the source of truth and the bus only announces news, so whatever is lost
// on the way is read from the store.
package bus

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Config configures a Bus. The zero value is useful.
type Config struct {
	Queue int           // events queued for one reader before it is cut off; 0 means 256
	Poll  time.Duration // how often a reader without news checks for appends of other processes; 0 means 1 s, or 15 s with a Link
	Link  Link          // carries events to and from the buses of other processes; nil means polling
}

// How long a reader without news waits before it checks the store.
const (
	pollAlone  = time.Second
	pollLinked = 15 * time.Second // the link announces news; this finds what it lost
)

// Bus appends events to a store and delivers them to readers. It starts no goroutine and needs no
// Close. It is safe for concurrent use.
type Bus struct {
	store store.Store
	cfg   Config

	mu       sync.RWMutex
	sessions map[pawl.SessionID]*subscribers
}

// subscribers are the readers of one session in this process. unlink stops the link for it.
type subscribers struct {
	readers []*reader
	unlink  func()
}

// New returns a bus over the store, which the caller closes.
func New(st store.Store, cfg Config) *Bus {
	if cfg.Queue <= 0 {
		cfg.Queue = 256
	}
	if cfg.Poll <= 0 {
		cfg.Poll = pollAlone
		if cfg.Link != nil {
			cfg.Poll = pollLinked
		}
	}
	return &Bus{store: st, cfg: cfg, sessions: map[pawl.SessionID]*subscribers{}}
}

// Append appends to the store, with the contract of its Append, and delivers the stored events to the
// session's readers before it returns. The link, if any, sends them to other processes.
func (b *Bus) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := b.store.Append(ctx, id, after, events...)
	if err != nil {
		return nil, err
	}
	b.deliver(id, stored...)
	if b.cfg.Link != nil && len(stored) > 0 {
		b.cfg.Link.Send(id, stored)
	}
	return stored, nil
}

// Publish delivers an event to the session's readers without storing it. It never blocks, drops the
// event for readers that lag behind, and costs almost nothing without readers. It panics on a
// durable event, which must be appended: nobody could resume from it otherwise.
func (b *Bus) Publish(e pawl.Event) {
	if kind := pawl.KindOf(e.Body); kind.Durable() {
		panic(fmt.Sprintf("bus: publish %s: a durable event must be appended", kind))
	}
	e.Seq = 0
	b.deliver(e.Session, e)
	if b.cfg.Link != nil {
		b.cfg.Link.Send(e.Session, []pawl.Event{e})
	}
}

func (b *Bus) deliver(id pawl.SessionID, events ...pawl.Event) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if subs := b.sessions[id]; subs != nil {
		for _, r := range subs.readers {
			r.offer(events)
		}
	}
}

// Events yields the session's events after the given Seq, then new ones as they come, until ctx ends
// or the caller breaks off. The end of ctx yields no error. A session that does not exist, or is
// deleted later, yields ErrNotFound; this and any other error of the store ends the stream.
//
// Durable events arrive exactly once, in order and without gaps, however slow the reader is,
// whoever appends them and in whatever order the news arrives. Unsaved events arrive only live,
// from when the iteration begins, and are dropped for a reader that lags behind. An unsaved event
// arrives after the durable events whose Append had returned when it was published, and never after
// durable events that were delivered after it; a Delta always arrives after its Reply. Unsaved
// events of another process arrive in the order that the link keeps.
//
// A reader holds at most twice Config.Queue events, those queued and those it is working through,
// and what the store reads ahead. The body of the loop may use the store and the bus.
func (b *Bus) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		// Subscribe before the first read, so that nothing is missed in between.
		r := b.join(id)
		defer b.leave(id, r)
		f := follower{store: b.store, id: id, last: after, yield: yield}
		if err := f.follow(ctx, r, b.cfg.Poll); err != nil && ctx.Err() == nil {
			yield(pawl.Event{}, err)
		}
	}
}

func (b *Bus) join(id pawl.SessionID) *reader {
	r := &reader{limit: b.cfg.Queue, news: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	subs := b.sessions[id]
	if subs == nil {
		subs = &subscribers{unlink: b.link(id)}
		b.sessions[id] = subs
	}
	subs.readers = append(subs.readers, r)
	return r
}

func (b *Bus) leave(id pawl.SessionID, r *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs := b.sessions[id]
	subs.readers = slices.DeleteFunc(subs.readers, func(other *reader) bool { return other == r })
	if len(subs.readers) == 0 {
		subs.unlink()
		delete(b.sessions, id)
	}
}
