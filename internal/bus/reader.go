package bus

import (
	"sync"

	"github.com/pawl-dev/pawl"
)

// reader is the bounded queue between those who publish and one who reads.
type reader struct {
	limit int
	news  chan struct{} // holds a token while there is something to take

	mu    sync.Mutex
	queue []pawl.Event
	cut   bool
}

// offer queues the events. Unsaved ones that find no room are dropped. A
// durable one that finds none cuts the reader off: its queue is dropped and
// nothing more is queued until it has taken note, because all that it missed
// is in the store.
func (r *reader) offer(events []pawl.Event) {
	r.mu.Lock()
	for _, e := range events {
		switch {
		case r.cut:
		case len(r.queue) < r.limit:
			r.queue = append(r.queue, e)
		case e.Seq != 0:
			clear(r.queue)
			r.queue = r.queue[:0]
			r.cut = true
		}
	}
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// take returns what is queued and whether the reader was cut off since it last
// took. The queue goes on in spare, a batch that was taken before and is done with.
func (r *reader) take(spare []pawl.Event) (batch []pawl.Event, cut bool) {
	clear(spare) // lets go of the bodies
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, cut = r.queue, r.cut
	r.queue, r.cut = spare[:0], false
	return batch, cut
}
