package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
)

// stream serves a model call. It ends when the client disconnects.
func (g *gateway) stream(w http.ResponseWriter, r *http.Request) {
	tenant := store.Tenant(r.Header.Get(TenantHeader))
	if tenant != "" && !tenant.Valid() {
		http.Error(w, fmt.Sprintf("%s: invalid tenant name %q", TenantHeader, tenant), http.StatusBadRequest)
		return
	}
	leave, err := g.tenants.enter(r.Context(), tenant) // before the body is read, which takes memory
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	a, status, err := g.read(w, r)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	out := newWriter(w, g)
	defer out.close() // if the model panics, the stream has no end line
	g.relay(store.WithTenant(r.Context(), tenant), a, out)
}

// read decodes the request; on error it returns the HTTP status too.
func (g *gateway) read(w http.ResponseWriter, r *http.Request) (a ask, status int, err error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyWithin)); err != nil {
		return a, http.StatusInternalServerError, err
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, g.MaxBody))
	d.DisallowUnknownFields() // do not ignore what is not understood
	var large *http.MaxBytesError
	if err := d.Decode(&a); errors.As(err, &large) {
		return a, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes, the limit of the gateway", large.Limit)
	} else if err != nil {
		return a, http.StatusBadRequest, fmt.Errorf("invalid request: %w: check that both sides run the same version", err)
	}
	return a, 0, control.SetReadDeadline(time.Time{})
}

// relay calls the model and passes on its chunks.
func (g *gateway) relay(ctx context.Context, a ask, out *writer) {
	m, err := g.Open(a.Ref)
	if err != nil {
		out.send(ctx, line{Kind: lineError, Error: g.failure(err)})
		return
	}
	for c, err := range m.Stream(ctx, model.Request(a.Request)) {
		switch {
		case err != nil && ctx.Err() != nil:
			return // the client has disconnected
		case err != nil:
			out.send(ctx, line{Kind: lineError, Error: g.failure(err)})
			return
		case c.Kind == model.ChunkRetry:
			c.Retry.Message = g.Redact(c.Retry.Message)
		case c.Kind == model.ChunkNotice:
			c.Text = g.Redact(c.Text)
		}
		if !out.send(ctx, lineOf(c)) {
			return
		}
	}
	out.send(ctx, line{Kind: lineEnd})
}

// Bounds of the write buffer.
const (
	maxLines = 64       // lines that wait
	maxBatch = 32 << 10 // bytes written at once, except for a longer line
)

// writer writes lines. It batches lines that arrive while others are written, so that a fast model costs no
// more writes.
type writer struct {
	lines chan line
	done  chan struct{}
}

func newWriter(w http.ResponseWriter, g *gateway) *writer {
	out := &writer{lines: make(chan line, maxLines), done: make(chan struct{})}
	w.Header().Set("Content-Type", "application/x-ndjson")
	go func() {
		defer close(out.done)
		var b bytes.Buffer
		for l := range out.lines {
			b.Reset()
			g.encode(&b, l)
			out.gather(&b, g)
			// An error means that the client has disconnected, which also ends the call's context.
			_, _ = w.Write(b.Bytes())
			_ = http.NewResponseController(w).Flush()
		}
	}()
	return out
}

// gather adds the lines that are already queued.
func (o *writer) gather(b *bytes.Buffer, g *gateway) {
	for b.Len() < maxBatch {
		select {
		case l, ok := <-o.lines:
			if !ok {
				return
			}
			g.encode(b, l)
		default:
			return
		}
	}
}

// encode writes a line. If a line cannot be encoded it writes an error line.
func (g *gateway) encode(b *bytes.Buffer, l line) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		_ = e.Encode(line{Kind: lineError, Error: g.failure(fmt.Errorf("forward reply: %w", err))})
	}
}

// send queues a line. It returns false if ctx has ended.
func (o *writer) send(ctx context.Context, l line) bool {
	select {
	case o.lines <- l:
		return true
	case <-ctx.Done():
		return false
	}
}

// close waits until all lines are written.
func (o *writer) close() {
	close(o.lines)
	<-o.done
}
