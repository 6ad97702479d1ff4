package httpapi

import (
	"bytes"
	"net/http"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// sse writes server-sent events to a client.
type sse struct {
	w   *response
	buf bytes.Buffer // not flushed yet
}

// openStream starts a response of server-sent events, if the limits allow it. The caller calls done at the
// end.
func openStream(w *response, r *request) (out *sse, done func(), err error) {
	s := r.server
	if s.streams.Add(1) > int64(s.Streams) {
		s.streams.Add(-1)
		return nil, nil, fault.New(api.ErrLimited, "too many open streams: the limit is %d", s.Streams)
	}
	if err := s.streamCounts.add(r.principal); err != nil {
		s.streams.Add(-1)
		return nil, nil, err
	}
	leave := s.connected(r.principal)
	done = func() {
		leave()
		s.streamCounts.remove(r.principal)
		s.streams.Add(-1)
	}
	w.Header().Set("Content-Type", string(api.FormStream))
	w.WriteHeader(http.StatusOK)
	out = &sse{w: w}
	out.buf.WriteString("retry: 1000\n\n")
	if out.flush() != nil {
		done()
		return nil, nil, errWritten
	}
	return out, done, nil
}

// message adds a message with JSON data to the buffer; id may be "".
func (o *sse) message(id string, data any) error {
	text, err := marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		o.buf.WriteString("id: " + id + "\n")
	}
	o.data(text)
	return nil
}

func (o *sse) data(text []byte) {
	o.buf.WriteString("data: ")
	o.buf.Write(bytes.TrimSpace(text))
	o.buf.WriteString("\n\n")
}

// fail adds the error that ends the stream to the buffer.
func (o *sse) fail(err error) {
	fault, _ := api.FaultOf(err)
	if text, err := marshal(fault); err == nil {
		o.buf.WriteString("event: error\n")
		o.data(text)
	}
}

// keepAlive sends a comment.
func (o *sse) keepAlive() error {
	o.buf.WriteString(": still here\n\n")
	return o.flush()
}

// maxBuffer bounds the capacity of a buffer that is reused.
const maxBuffer = 64 << 10

// flush sends the buffer. It fails if the client does not read in time.
func (o *sse) flush() error {
	if o.buf.Len() == 0 {
		return nil
	}
	if _, err := o.w.Write(o.buf.Bytes()); err != nil {
		return err
	}
	o.buf.Reset()
	if o.buf.Cap() > maxBuffer {
		o.buf = bytes.Buffer{}
	}
	return http.NewResponseController(o.w).Flush()
}
