// Package pdftext extracts the text of PDF files for models, without layout
// and images. Files are untrusted, so all work is bounded: extraction always
// ends in time and needs no more memory than a few times the file's size. It
// supports what producers of the last decades write, but not encrypted files
// and old fonts without a character map.
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

// Reasons why no text was extracted.
var (
	ErrNotPDF    = errors.New("it is not a PDF")
	ErrTooLarge  = errors.New("it is too large")
	ErrEncrypted = errors.New("it is encrypted")
	ErrNoText    = errors.New("it has no text, only images perhaps")
)

const (
	maxFile  = 64 << 20         // bytes of a file
	maxTime  = 20 * time.Second // for one file
	maxWork  = 1 << 28          // steps: bytes that are read and decoded, operators that are executed
	maxPages = 5000
)

// errWork means that maxWork is exhausted.
var errWork = errors.New("it takes too much work")

// Text returns the text of the PDF of the given size in r, page by page. It
// stops at limit bytes and says so at the end of the text. It returns shortly
// after the context ends.
func Text(ctx context.Context, r io.ReaderAt, size int64, limit int) (_ string, err error) {
	if size > maxFile {
		return "", fmt.Errorf("read PDF: %w: %d bytes, %d are read", ErrTooLarge, size, maxFile)
	}
	defer func() {
		if fault := recover(); fault != nil { // a bug in the reader must not end the program
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

// tidy removes trailing whitespace and all but one of consecutive empty lines.
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

// meter limits the work on a file.
type meter struct {
	left int
	stop func() error
	tick int
	err  error
}

// The costs, in steps, of operations that take longer than reading a byte.
const (
	cheap  = 20
	costly = 1000
)

// checkEvery is how many steps pass between two checks of the context.
const checkEvery = 1 << 16

// spend uses n steps and reports whether the work may continue.
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
