package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// readAhead is how many events wait for a stream's writer, and are written with
// one call.
const readAhead = 64

// streamEvents shows events as they come. Those of the log are numbered, so that
// a client that was cut off goes on from there; the bus drops the others for one
// that does not keep up. So a stream holds a bounded number of events, however
// slow its client is, and one that does not read at all is cut off.
func streamEvents(w *response, r *asked) (any, error) {
	after, err := r.after()
	if err != nil {
		return nil, err
	}
	if _, err := r.service.Get(r.Context(), r.id); err != nil {
		return nil, err
	}
	s := r.server
	if s.streams.Add(1) > int64(s.Streams) {
		s.streams.Add(-1)
		return nil, fmt.Errorf("there are %d streams already: %w", s.Streams, api.ErrLimited)
	}
	defer s.streams.Add(-1)
	if err := s.watchers.add(r.who); err != nil {
		return nil, err
	}
	defer s.watchers.remove(r.who)
	w.Header().Set("Content-Type", string(api.FormStream))
	w.WriteHeader(http.StatusOK)
	out := &stream{w: w, texts: &s.texts, last: after}
	out.text.WriteString("retry: 1000\n\n")
	if out.flush() != nil {
		return nil, errDone
	}
	ctx, cancel := context.WithCancel(r.Context())
	items := read(ctx, r, after)
	if out.follow(ctx, s, items) {
		out.end(ctx, r, items)
	}
	cancel()
	for range items { // until the reader has let go of the store
	}
	return nil, errDone
}

// watchers count the streams of those tokens and tenants that may not have many.
type watchers struct {
	mu    sync.Mutex
	count map[string]int
}

// bounded are the counts that who asks has a part in, and how far each may go.
func bounded(p api.Principal) map[string]int {
	most := map[string]int{}
	if p.Limits.Streams > 0 {
		most["token "+p.Token] = p.Limits.Streams
	}
	if p.Shared.Streams > 0 {
		most["tenant "+string(p.Tenant)] = p.Shared.Streams
	}
	return most
}

// add counts a stream, or says why there may not be another.
func (w *watchers) add(p api.Principal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := bounded(p)
	for key, n := range most {
		if w.count[key] >= n {
			whose, _, _ := strings.Cut(key, " ")
			return fmt.Errorf("the %s has %d streams already, as many as it may: %w", whose, n, api.ErrLimited)
		}
	}
	if w.count == nil {
		w.count = map[string]int{}
	}
	for key := range most {
		w.count[key]++
	}
	return nil
}

func (w *watchers) remove(p api.Principal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range bounded(p) {
		if w.count[key]--; w.count[key] == 0 {
			delete(w.count, key)
		}
	}
}

// item is an event, or why there are no more.
type item struct {
	event pawl.Event
	err   error
}

// read reads ahead of the writer.
func read(ctx context.Context, r *asked, after pawl.Seq) <-chan item {
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

// stream is where events are written to.
type stream struct {
	w     *response
	texts *encoded
	last  pawl.Seq     // of the log, that was written
	text  bytes.Buffer // that is not yet flushed
}

// follow writes what comes until there is no more, the client is gone or the
// server ends, which it reports.
func (o *stream) follow(ctx context.Context, s *Server, items <-chan item) (ends bool) {
	beat := time.NewTimer(s.Beat)
	defer beat.Stop()
	for {
		select {
		case it, ok := <-items:
			if !ok || !o.write(it) || !o.more(items) || o.flush() != nil {
				_ = o.flush() // the last words, if any
				return false
			}
			beat.Reset(s.Beat)
		case <-beat.C:
			o.text.WriteString(": still here\n\n")
			if o.flush() != nil {
				return false
			}
			beat.Reset(s.Beat)
		case <-s.closing:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// lastWords is how long a stream goes on when the server ends.
const lastWords = time.Second

// end writes what the log has already when the server ends, so that one who
// watches sees how a turn came out that was let finish.
func (o *stream) end(ctx context.Context, r *asked, items <-chan item) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	row, err := r.service.Get(ctx, r.id)
	for err == nil && o.last < row.Head {
		select {
		case it, ok := <-items:
			if !ok || !o.write(it) {
				err = errDone
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	_ = o.flush() // the client comes again for what is missing
}

// more takes what waits already, so that it is written with one call.
func (o *stream) more(items <-chan item) bool {
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

// write adds an event, and reports whether there may be more.
func (o *stream) write(it item) bool {
	text, err := []byte(nil), it.err
	if err == nil {
		text, err = o.texts.of(it.event)
	}
	if err != nil {
		fault, _ := api.FaultOf(err)
		if text, err = marshal(fault); err == nil {
			o.text.WriteString("event: error\ndata: ")
			o.text.Write(bytes.TrimSpace(text))
			o.text.WriteString("\n\n")
		}
		return false
	}
	o.last = max(o.last, it.event.Seq)
	o.text.Write(text)
	return true
}

// maxKept bounds what is kept of a buffer that was once large.
const maxKept = 64 << 10

// flush sends what is written, unless the client does not take it in time.
func (o *stream) flush() error {
	if o.text.Len() == 0 {
		return nil
	}
	if _, err := o.w.Write(o.text.Bytes()); err != nil {
		return err
	}
	o.text.Reset()
	if o.text.Cap() > maxKept {
		o.text = bytes.Buffer{}
	}
	return http.NewResponseController(o.w).Flush()
}
