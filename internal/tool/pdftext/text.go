// Package pdftext reads the text of a PDF, for a model to read: no layout, no
// images. The file may come from anywhere, so all work is bounded: it ends in
// time whatever the file says, and takes no more memory than a few times the
// file's size. It knows what writers of the last decades make; files that are
// encrypted, and old fonts without a table of characters, are beyond it.
package pdftext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// The reasons for which there is no text. Compare with errors.Is.
var (
	ErrNotPDF    = errors.New("it is not a PDF")
	ErrTooLarge  = errors.New("it is too large")
	ErrEncrypted = errors.New("it is encrypted")
	ErrNoText    = errors.New("it has no text, only images perhaps")
)

const (
	maxFile  = 64 << 20         // bytes of a file
	maxTime  = 20 * time.Second // for one file
	maxWork  = 1 << 28          // steps: bytes that are read and decoded, operators that are run
	maxPages = 5000
)

// errWork is the end of the steps.
var errWork = errors.New("it takes too much work")

// Text returns the text of the PDF of the given size in r, page after page. It
// stops at limit bytes and says so at the end of the text. It returns within a
// moment of the context's end.
func Text(ctx context.Context, r io.ReaderAt, size int64, limit int) (_ string, err error) {
	if size > maxFile {
		return "", fmt.Errorf("read PDF: %w: %d bytes, %d are read", ErrTooLarge, size, maxFile)
	}
	defer func() {
		if fault := recover(); fault != nil { // a hole in the reader must not end the program
			err = fmt.Errorf("read PDF: it is broken: %v", fault)
		}
	}()
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); err != nil && (int64(n) != size || !errors.Is(err, io.EOF)) {
		return "", fmt.Errorf("read PDF: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes longer than %s", maxTime))
	defer cancel()
	text, err := read(data, &meter{left: maxWork, stop: func() error { return context.Cause(ctx) }}, limit)
	if err != nil {
		return "", fmt.Errorf("read PDF: %w", err)
	}
	return text, nil
}

func read(data []byte, m *meter, limit int) (string, error) {
	if !strings.Contains(string(data[:min(len(data), 1024)]), "%PDF-") {
		return "", ErrNotPDF
	}
	f := open(data, m)
	if f.locked {
		return "", ErrEncrypted
	}
	pages := f.pages()
	out := &writer{limit: limit}
	for i, p := range pages {
		out.page()
		f.show(p, out)
		if out.full() {
			fmt.Fprintf(&out.b, "\n\n(cut: page %d of %d is reached)", i+1, len(pages))
			break
		}
		if m.err != nil {
			break
		}
	}
	text := tidy(out.b.String())
	switch {
	case m.err != nil:
		return "", m.err
	case len(pages) == 0:
		return "", fmt.Errorf("%w: it has no pages", ErrNotPDF)
	case text == "":
		return "", ErrNoText
	}
	return text, nil
}

// tidy takes out blanks at the ends of lines, and all but one of the empty lines
// that follow each other.
func tidy(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// meter bounds the work on a file.
type meter struct {
	left int
	stop func() error
	tick int
	err  error
}

// What takes longer than reading a byte costs more steps.
const (
	cheap  = 20
	costly = 1000
)

// checkEvery is how many steps pass between two looks at the clock.
const checkEvery = 1 << 16

// spend takes n steps and reports whether the work may go on.
func (m *meter) spend(n int) bool {
	m.left -= n
	m.tick += n + 1
	switch {
	case m.err != nil:
	case m.left < 0:
		m.err = errWork
	case m.tick > checkEvery:
		m.tick = 0
		m.err = m.stop()
	}
	return m.err == nil
}
