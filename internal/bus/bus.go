// Package bus shows a session's events to those who watch: first what the
// store holds, then what comes. The store is the truth and the bus only says
// that there is news, so whatever is lost on the way is read from the store.
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

// Config bounds the bus. The zero value is useful.
type Config struct {
	Queue int           // events that wait for one reader before it is cut off; 0 means 256
	Poll  time.Duration // how often a reader without news looks for appends of other processes; 0 means a second, or 15 with a Link
	Link  Link          // carries events to and from the buses of other processes; nil means that there are none, or that polling will do
}

// How long a reader without news waits before it looks at the store.
const (
	pollAlone  = time.Second
	pollLinked = 15 * time.Second // the link tells; this is for what it lost without noticing
)

// Bus appends to a store and tells the readers. It starts no goroutine and
// needs no Close. It is safe for concurrent use.
type Bus struct {
	store store.Store
	cfg   Config

	mu    sync.RWMutex
	rooms map[pawl.SessionID]*room
}

// room is who reads one session here, and how to leave what the link tells of it.
type room struct {
	readers []*reader
	unlink  func()
}

// New returns a bus over the store, which stays the caller's to close.
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
	return &Bus{store: st, cfg: cfg, rooms: map[pawl.SessionID]*room{}}
}

// Append is the store's Append, whose contract holds, and shows what was
// stored to the session's readers before it returns. Those of other processes
// are told by the link, if there is one.
func (b *Bus) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := b.store.Append(ctx, id, after, events...)
	if err != nil {
		return nil, err
	}
	b.show(id, stored...)
	if b.cfg.Link != nil && len(stored) > 0 {
		b.cfg.Link.Send(id, stored)
	}
	return stored, nil
}

// Publish shows an unsaved event to the session's readers that keep up. It
// never blocks and, with nobody reading, costs next to nothing. An event that
// belongs in the log is a bug of the caller's and panics: nobody could resume by it.
func (b *Bus) Publish(e pawl.Event) {
	if kind := pawl.KindOf(e.Body); kind.Durable() {
		panic(fmt.Sprintf("bus: publish %s: a durable event must be appended", kind))
	}
	e.Seq = 0
	b.show(e.Session, e)
	if b.cfg.Link != nil {
		b.cfg.Link.Send(e.Session, []pawl.Event{e})
	}
}

func (b *Bus) show(id pawl.SessionID, events ...pawl.Event) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if in := b.rooms[id]; in != nil {
		for _, r := range in.readers {
			r.offer(events)
		}
	}
}

// Events yields the session's events after the given Seq, then those that
// come, until ctx ends or the caller breaks off; the end of ctx is no error and
// yields none. ErrNotFound if there is no such session, also when it is deleted
// later on; any error of the store's ends the stream likewise.
//
// Durable events arrive exactly once, in order and without gaps, however slow
// the reader is, whoever appends them and in whatever order the news comes in.
// Unsaved events arrive only live, from when the iteration begins, and are
// dropped for a reader that lags. One comes after the durable events whose
// Append had returned when it was published, a Delta also after its Reply; and
// it never comes after durable events that were shown after it. Unsaved events
// of another process come in such order as the link keeps, a Delta always after
// its Reply.
//
// A reader holds at most twice Config.Queue events, those that wait and those
// it is working through, and what the store reads ahead. The loop's body may
// use the store and the bus.
func (b *Bus) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		// Joined before the first read, so that nothing falls between the two.
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
	in := b.rooms[id]
	if in == nil {
		in = &room{unlink: b.link(id)}
		b.rooms[id] = in
	}
	in.readers = append(in.readers, r)
	return r
}

func (b *Bus) leave(id pawl.SessionID, r *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.rooms[id]
	in.readers = slices.DeleteFunc(in.readers, func(other *reader) bool { return other == r })
	if len(in.readers) == 0 {
		in.unlink()
		delete(b.rooms, id)
	}
}
