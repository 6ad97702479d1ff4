package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
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
	if !s.watchers.add(r.who) {
		return nil, fmt.Errorf("the token has %d streams already, as many as it may: %w", r.who.Limits.Streams, api.ErrLimited)
	}
	defer s.watchers.remove(r.who)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w.Header().Set("Content-Type", string(api.FormStream))
	w.WriteHeader(http.StatusOK)
	out := &stream{w: w, control: http.NewResponseController(w), patience: s.Patience}
	out.text.WriteString("retry: 1000\n\n")
	if out.flush() == nil {
		out.follow(ctx, s, read(ctx, r, after))
	}
	return nil, errDone
}

// watchers count the streams of those tokens that may not have many.
type watchers struct {
	mu     sync.Mutex
	tokens map[string]int
}

func (w *watchers) add(p api.Principal) bool {
	if p.Limits.Streams == 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[p.Token] >= p.Limits.Streams {
		return false
	}
	if w.tokens == nil {
		w.tokens = map[string]int{}
	}
	w.tokens[p.Token]++
	return true
}

func (w *watchers) remove(p api.Principal) {
	if p.Limits.Streams == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[p.Token]--; w.tokens[p.Token] == 0 {
		delete(w.tokens, p.Token)
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
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	text     bytes.Buffer // that is not yet written
}

// follow writes what comes until there is no more, the client is gone or the
// server ends.
func (o *stream) follow(ctx context.Context, s *Server, items <-chan item) {
	beat := time.NewTimer(s.Beat)
	defer beat.Stop()
	for {
		select {
		case it, ok := <-items:
			if !ok || !o.write(it) || !o.more(items) || o.flush() != nil {
				_ = o.flush() // the last words, if any
				return
			}
			beat.Reset(s.Beat)
		case <-beat.C:
			o.text.WriteString(": still here\n\n")
			if o.flush() != nil {
				return
			}
			beat.Reset(s.Beat)
		case <-s.closing:
			return
		case <-ctx.Done():
			return
		}
	}
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
		text, err = it.event.MarshalJSON()
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
	if it.event.Seq > 0 {
		o.text.WriteString("id: " + strconv.FormatInt(int64(it.event.Seq), 10) + "\n")
	}
	o.text.WriteString("data: ")
	o.text.Write(text) // JSON has no line's end
	o.text.WriteString("\n\n")
	return true
}

// maxKept bounds what is kept of a buffer that was once large.
const maxKept = 64 << 10

// flush sends what is written, unless the client does not take it in time.
func (o *stream) flush() error {
	if o.text.Len() == 0 {
		return nil
	}
	if err := o.control.SetWriteDeadline(time.Now().Add(o.patience)); err != nil {
		return err
	}
	if _, err := o.w.Write(o.text.Bytes()); err != nil {
		return err
	}
	o.text.Reset()
	if o.text.Cap() > maxKept {
		o.text = bytes.Buffer{}
	}
	return o.control.Flush()
}
