package redact

import (
	"bytes"
	"io"
	"sync"
)

// maxHeld bounds the bytes that a Writer holds back. It is more than any secret has.
const maxHeld = 2 * maxKey

// Writer masks a stream that is written in pieces: it holds back what may be the
// beginning of a secret until more is written. It is safe for concurrent use.
type Writer struct {
	table func() *table
	w     io.Writer

	mu   sync.Mutex
	held []byte // undecided bytes, preceded by context
	from int    // where the undecided bytes begin in held
}

// Writer returns a Writer that masks as Redact does.
func (r *Redactor) Writer(w io.Writer) *Writer {
	return &Writer{table: func() *table { return r.table().all }, w: w}
}

// KnownWriter returns a Writer that masks as Known does. Values that are added later
// are masked from then on.
func (r *Redactor) KnownWriter(w io.Writer) *Writer {
	return &Writer{table: func() *table { return r.table().known }, w: w}
}

// Write masks and writes what is decided, and holds back the rest.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	if err := w.decide(len(w.held)-w.from > maxHeld); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back, at the end of the stream.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.decide(true)
	w.held, w.from = nil, 0
	return err
}

// decide writes what is decided and keeps the rest with the two bytes before it,
// which shapes look back to.
func (w *Writer) decide(last bool) error {
	s := string(w.held)
	hits, decided := w.table().find(text{s, last}, w.from)
	out := apply(nil, s, w.from, decided, hits)
	before := max(0, decided-2)
	w.held = append(w.held[:0], s[before:]...)
	w.from = decided - before
	if len(out) == 0 {
		return nil
	}
	_, err := w.w.Write(out)
	return err
}

// Reader returns what r yields, masked as Redact does. It is for what goes into
// a blob and, in part, to a model.
func (r *Redactor) Reader(in io.Reader) io.Reader {
	out := &bytes.Buffer{}
	return &reader{in: in, out: out, w: r.Writer(out)}
}

func (r *Redactor) knownReader(in io.Reader) io.Reader {
	out := &bytes.Buffer{}
	return &reader{in: in, out: out, w: r.KnownWriter(out)}
}

type reader struct {
	in  io.Reader
	out *bytes.Buffer
	w   *Writer
	buf [32 << 10]byte
	err error
}

func (r *reader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 && r.err == nil && len(p) > 0 {
		var n int
		n, r.err = r.in.Read(r.buf[:])
		_, _ = r.w.Write(r.buf[:n]) // a buffer takes all
		if r.err == io.EOF {        //nolint:errorlint // readers return it bare
			_ = r.w.Flush()
		}
	}
	if r.out.Len() > 0 {
		return r.out.Read(p)
	}
	return 0, r.err
}

// Progress masks what is shown of an output as it comes, in pieces. Flush shows
// what was held back, when the output has ended.
func (r *Redactor) Progress(show func(string)) (masked func(string), flush func()) {
	w := r.Writer(showWriter(show))
	return func(text string) { _, _ = w.Write([]byte(text)) }, func() { _ = w.Flush() } // showing does not fail
}

type showWriter func(string)

func (show showWriter) Write(p []byte) (int, error) {
	show(string(p))
	return len(p), nil
}
