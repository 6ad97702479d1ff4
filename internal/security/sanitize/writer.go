package sanitize

import (
	"io"
	"sync"
)

// Writer sanitizes a stream as Text does, whatever the pieces in which it is written.
// It is safe for concurrent use.
type Writer struct {
	w io.Writer

	mu     sync.Mutex
	filter filter
	out    []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes the sanitized p. It holds back an incomplete rune at its end.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = w.filter.add(w.out[:0], string(p))
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back, at the end of the text.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = w.filter.end(w.out[:0])
	return w.flush()
}

func (w *Writer) flush() error {
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.w.Write(w.out)
	return err
}
