package httpapi

import (
	"context"
	"net"
	"net/http"
	"time"
)

// connKey is the context key of a request's connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Conn returns the connection of a request, or nil. It is needed to find out the peer
// of a Unix socket.
func Conn(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// response is an http.ResponseWriter that records the status and bounds how long the
// client may take to read.
type response struct {
	http.ResponseWriter
	id      string // request id
	status  int
	timeout time.Duration
	head    bool // the response has no body
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.setDeadline()
	w.ResponseWriter.WriteHeader(status)
}

// writeChunk is how many bytes are written per deadline, so that a slow client that
// keeps reading is not cut off, however long the response is.
const writeChunk = 64 << 10

// Write fails if the request is a HEAD, which ends streams.
func (w *response) Write(p []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.head {
		return 0, http.ErrBodyNotAllowed
	}
	for err == nil && n < len(p) {
		w.setDeadline()
		var m int
		m, err = w.ResponseWriter.Write(p[n:min(n+writeChunk, len(p))])
		n += m
	}
	return n, err
}

// setDeadline bounds the next write. It also applies to responses without a body: a
// client could send one request after another and read nothing.
func (w *response) setDeadline() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout)) // fails only if the connection has ended
}

// Unwrap supports http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
