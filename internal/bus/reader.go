package bus

import (
	"sync"

	"github.com/pawl-dev/pawl"
)

// reader is the bounded queue between publishers and one reader.
type reader struct {
	limit int
	news  chan struct{} // holds a token while there is something to take

	mu    sync.Mutex
	queue []pawl.Event
	cut   bool
}

// offer queues the events. If the queue is full, it drops unsaved events; a durable event cuts the
// reader off: its queue is dropped and nothing more is queued until take, because everything that
// it missed is in the store.
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

// take returns the queued events, and whether the reader was cut off since the last take. The queue
// continues in spare, a batch from an earlier take that is not needed any more.
func (r *reader) take(spare []pawl.Event) (batch []pawl.Event, cut bool) {
	clear(spare) // release the bodies
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, cut = r.queue, r.cut
	r.queue, r.cut = spare[:0], false
	return batch, cut
}
