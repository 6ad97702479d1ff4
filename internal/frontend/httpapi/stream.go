package httpapi

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// readAhead is how many events are buffered for a stream, and the most that are
// written at once.
const readAhead = 64

// streamEvents streams a session's events as server-sent events. Events of the log
// have ids, so that a client can reconnect after the last one; the bus drops the
// others for slow clients. So a stream buffers a bounded number of events however slow
// its client is, and a client that does not read is disconnected.
func streamEvents(w *response, r *request) (any, error) {
	after, err := r.afterSeq()
	if err != nil {
		return nil, err
	}
	if _, err := r.service.Get(r.Context(), r.id); err != nil {
		return nil, err
	}
	s := r.server
	sse, done, err := openStream(w, r)
	if err != nil {
		return nil, err
	}
	defer done()
	out := &eventStream{sse: sse, last: after, add: func(e pawl.Event) error {
		text, err := s.eventCache.encode(e)
		sse.buf.Write(text)
		return err
	}}
	out.run(r, after)
	return nil, errWritten
}

// run streams events after a number until they end, the client disconnects or the server closes.
func (o *eventStream) run(r *request, after pawl.Seq) {
	ctx, cancel := context.WithCancel(r.Context())
	items := read(ctx, r, after)
	if o.follow(ctx, r.server, items) {
		o.finish(ctx, r, items)
	}
	cancel()
	for range items { // wait until the reader has released the store
	}
}

// streamCounts counts the open streams of tokens and tenants that have a limit.
type streamCounts struct {
	mu    sync.Mutex
	count map[string]int
}

// streamLimits returns the counters that apply to a principal and their limits.
func streamLimits(p api.Principal) map[string]int {
	limits := map[string]int{}
	if p.Limits.Streams > 0 {
		limits["token "+p.LimitKey()] = p.Limits.Streams
	}
	if p.Shared.Streams > 0 {
		limits["tenant "+string(p.Tenant)] = p.Shared.Streams
	}
	return limits
}

// add counts a stream, or returns an error if a limit is reached.
func (w *streamCounts) add(p api.Principal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	limits := streamLimits(p)
	for key, n := range limits {
		if w.count[key] >= n {
			whose, _, _ := strings.Cut(key, " ")
			return fault.New(api.ErrLimited, "too many open streams: the limit of the %s is %d", whose, n)
		}
	}
	if w.count == nil {
		w.count = map[string]int{}
	}
	for key := range limits {
		w.count[key]++
	}
	return nil
}

func (w *streamCounts) remove(p api.Principal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range streamLimits(p) {
		if w.count[key]--; w.count[key] == 0 {
			delete(w.count, key)
		}
	}
}

// item is an event, or the error that ended the stream.
type item struct {
	event pawl.Event
	err   error
}

// read reads events ahead of the writer.
func read(ctx context.Context, r *request, after pawl.Seq) <-chan item {
	items := make(chan item, readAhead)
	go func() {
		defer close(items)
		for e, err := range r.service.Events(ctx, r.id, after) {
			select {
			case items <- item{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return items
}

// eventStream writes events to a client.
type eventStream struct {
	*sse
	last pawl.Seq                 // last event of the log that was written
	add  func(e pawl.Event) error // adds what the client gets of an event to the buffer
}

// follow writes events until they end, the client has disconnected or the server closes; it
// returns true in the last case.
func (o *eventStream) follow(ctx context.Context, s *Server, items <-chan item) (ends bool) {
	heartbeat := time.NewTimer(s.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case it, ok := <-items:
			if ctx.Err() != nil { // also if both are ready: a revoked token gets no more
				return false
			}
			if !ok || !o.write(it) || !o.writePending(items) || o.flush() != nil {
				_ = o.flush() // a last error event, if any
				return false
			}
			heartbeat.Reset(s.Heartbeat)
		case <-heartbeat.C:
			if o.keepAlive() != nil {
				return false
			}
			heartbeat.Reset(s.Heartbeat)
		case <-s.closing:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// closeTime bounds how long a stream continues when the server closes.
const closeTime = time.Second

// finish writes the events that are in the log when the server closes, so that clients
// see the end of a turn that was allowed to finish.
func (o *eventStream) finish(ctx context.Context, r *request, items <-chan item) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	row, err := r.service.Get(ctx, r.id)
	for err == nil && o.last < row.Head {
		select {
		case it, ok := <-items:
			if !ok || !o.write(it) {
				err = errWritten
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	_ = o.flush() // the client reconnects for the rest
}

// writePending writes the events that are already buffered, to flush them together.
func (o *eventStream) writePending(items <-chan item) bool {
	for range readAhead {
		select {
		case it, ok := <-items:
			if !ok || !o.write(it) {
				return false
			}
		default:
			return true
		}
	}
	return true
}

// write adds an event to the buffer. It reports whether more may follow.
func (o *eventStream) write(it item) bool {
	err := it.err
	if err == nil {
		err = o.add(it.event)
	}
	if err != nil {
		o.fail(err)
		return false
	}
	o.last = max(o.last, it.event.Seq)
	return true
}
