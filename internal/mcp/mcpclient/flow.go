package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// meter counts what a server sends without being asked: what it says is kept
// until somebody has time for it.
type meter struct {
	bytes, lines atomic.Int64
	broken       atomic.Pointer[error] // the first thing that a server did wrong
	tell         func(error)           // is told of it; nil is nobody
}

// breaks takes note of what a server did wrong: whoever reads from it may say
// only that there is nothing more.
func (m *meter) breaks(err error) error {
	if m.broken.CompareAndSwap(nil, &err) && m.tell != nil {
		m.tell(err)
	}
	return err
}

// fault is what the server did wrong; nil if nothing is known.
func (m *meter) fault() error {
	if err := m.broken.Load(); err != nil {
		return *err
	}
	return nil
}

var errFlood = fmt.Errorf("it sent more than %d bytes, or %d lines, that nobody asked for", floodBytes, floodLines)

var errMessage = fmt.Errorf("it sent a message of more than %d bytes", messageBytes)

// came counts a piece.
func (m *meter) came(p []byte) error {
	n := m.bytes.Add(int64(len(p)))
	l := m.lines.Add(int64(bytes.Count(p, []byte{'\n'})))
	if n > floodBytes || l > floodLines {
		return m.breaks(errFlood)
	}
	return nil
}

// sent begins anew: something was said to the server.
func (m *meter) sent() {
	m.bytes.Store(0)
	m.lines.Store(0)
}

// messages reads the messages of a program's output. Many print a word to
// people there too: lines that are no message are passed over, so many.
type messages struct {
	in    *bufio.Reader
	from  io.Closer
	meter *meter
	rest  bool // the line has begun, and is a message
	size  int  // of the line so far
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
		return 0, r.meter.breaks(errMessage)
	}
	return n, r.meter.came(p[:n])
}

// begin looks at the beginning of a line.
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
		return r.meter.breaks(fmt.Errorf("it printed more than %d lines that are no messages: its output is for messages alone", strayLines))
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

// meteredWriter tells the meter of what is sent.
type meteredWriter struct {
	io.WriteCloser
	meter *meter
}

func (w meteredWriter) Write(p []byte) (int, error) {
	w.meter.sent()
	return w.WriteCloser.Write(p)
}

// meteredBody is an answer of a server on the network. left bounds one that is
// a single message; it is -1 for a stream, whose events are bounded where they
// are read.
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
			return 0, b.meter.breaks(errMessage)
		}
	}
	return n, err
}

func (b *meteredBody) Close() error {
	err := b.ReadCloser.Close()
	b.free()
	return err
}
