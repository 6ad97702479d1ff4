package sanitize

import (
	"io"
	"sync"
)

// Writer writes what Text makes of all that is written to it, in whatever
// pieces. It may be used by several goroutines at once.
type Writer struct {
	w io.Writer

	mu     sync.Mutex
	filter filter
	out    []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes what can be shown of p. It holds back the beginning of a rune at
// its end.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = w.filter.add(w.out[:0], string(p))
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush ends the text: what was held back is no rune any more.
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
