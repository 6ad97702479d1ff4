package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// meter counts what a server sends between two requests, because it is
// buffered until it is read.
type meter struct {
	bytes, lines atomic.Int64
	broken       atomic.Pointer[error] // the first violation of the server
	onViolation  func(error)           // is called with the violation; may be nil
}

// violated records and returns a violation of the server. The reader of the
// connection may report only an end of input.
func (m *meter) violated(err error) error {
	if m.broken.CompareAndSwap(nil, &err) && m.onViolation != nil {
		m.onViolation(err)
	}
	return err
}

// violation returns the recorded violation, or nil.
func (m *meter) violation() error {
	if err := m.broken.Load(); err != nil {
		return *err
	}
	return nil
}

var errFlood = fmt.Errorf("the server sent more than %d bytes, or %d lines, of unrequested output", floodBytes, floodLines)

var errMessage = fmt.Errorf("the server sent a message larger than %d bytes", messageBytes)

// came counts received bytes and messages.
func (m *meter) came(p []byte) error {
	n := m.bytes.Add(int64(len(p)))
	l := m.lines.Add(int64(bytes.Count(p, []byte{'\n'})))
	if n > floodBytes || l > floodLines {
		return m.violated(errFlood)
	}
	return nil
}

// sent resets the counters, because a request was sent.
func (m *meter) sent() {
	m.bytes.Store(0)
	m.lines.Store(0)
}

// messages reads the messages in a program's output. Many programs also print
// text there: lines that are not messages are skipped, up to a limit.
type messages struct {
	in    *bufio.Reader
	from  io.Closer
	meter *meter
	rest  bool // the current line is a message
	size  int  // bytes of the current line so far
	stray int
}

func newMessages(r io.ReadCloser, m *meter) *messages {
	return &messages{in: bufio.NewReaderSize(r, 64<<10), from: r, meter: m}
}

func (r *messages) Close() error { return r.from.Close() }

func (r *messages) Read(p []byte) (int, error) {
	for !r.rest {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := r.in.Peek(1); err != nil {
		return 0, err
	}
	chunk, _ := r.in.Peek(min(r.in.Buffered(), len(p)))
	if end := bytes.IndexByte(chunk, '\n'); end >= 0 {
		chunk, r.rest = chunk[:end+1], false
	}
	n := copy(p, chunk)
	_, _ = r.in.Discard(n)
	if r.size += n; r.size > messageBytes {
		return 0, r.meter.violated(errMessage)
	}
	return n, r.meter.came(p[:n])
}

// begin examines the beginning of a line.
func (r *messages) begin() error {
	first, err := r.in.Peek(1)
	if err != nil {
		return err
	}
	switch first[0] {
	case '{', '[':
		r.rest, r.size = true, 0
		return nil
	case ' ', '\t', '\r', '\n':
		_, err := r.in.Discard(1)
		return errors.Join(err, r.meter.came([]byte{'\n'}))
	}
	if r.stray++; r.stray > strayLines {
		return r.meter.violated(fmt.Errorf("the server printed more than %d lines that are not messages: stdout is reserved for messages", strayLines))
	}
	for {
		piece, err := r.in.ReadSlice('\n')
		if flood := r.meter.came(piece); flood != nil {
			return flood
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// meteredWriter resets the meter at every write.
type meteredWriter struct {
	io.WriteCloser
	meter *meter
}

func (w meteredWriter) Write(p []byte) (int, error) {
	w.meter.sent()
	return w.WriteCloser.Write(p)
}

// meteredBody is the body of an HTTP response. left limits a response with a
// single message; it is -1 for a stream, whose events are limited by its
// reader.
type meteredBody struct {
	io.ReadCloser
	meter *meter
	left  int64
	free  func()
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if flood := b.meter.came(p[:n]); flood != nil {
		return n, flood
	}
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			b.left = 0
			return 0, b.meter.violated(errMessage)
		}
	}
	return n, err
}

func (b *meteredBody) Close() error {
	err := b.ReadCloser.Close()
	b.free()
	return err
}
