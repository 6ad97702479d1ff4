package lineui

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// together is how soon a line comes behind another of the same paste. People do not
// type so fast.
const together = 30 * time.Millisecond

// maxTyped bounds the lines of one paste, and maxLine the bytes of one: a
// terminal gives less.
const (
	maxTyped = 10_000
	maxLine  = 1 << 20
)

// typed is what came from the person at once: a line, or the lines of a paste.
type typed struct {
	lines []string
	at    time.Time // when the first was read
	end   bool      // nothing more comes
}

// pasted reports whether it is more than a person types at once.
func (t typed) pasted() bool { return len(t.lines) > 1 }

// text is all of it.
func (t typed) text() string { return strings.Join(t.lines, "\n") }

// rawLine is a line as it was read.
type rawLine struct {
	text string
	at   time.Time
	more bool // another was there when it was read
	end  bool
}

// read hands on what the person types until ctx ends. Lines that were there at
// once, or came right behind each other, are handed on together.
func read(ctx context.Context, in io.Reader, pending func() bool, out chan<- typed) {
	lines := make(chan rawLine)
	go readLines(ctx, in, pending, lines)
	for {
		got, ended := gather(ctx, lines, pending)
		for _, t := range []typed{got, {end: true}} {
			if t.end && !ended || !t.end && len(t.lines) == 0 {
				continue
			}
			select {
			case out <- t:
			case <-ctx.Done():
				return
			}
		}
		if ended {
			return
		}
	}
}

// gather returns the next line, with those of the same paste. It reports whether
// nothing more comes.
func gather(ctx context.Context, lines <-chan rawLine, pending func() bool) (t typed, ended bool) {
	var wait <-chan time.Time // until then another may come; nil means for ever
	for {
		var l rawLine
		select {
		case l = <-lines:
		case <-ctx.Done():
			return t, true
		case <-wait:
			select {
			case l = <-lines: // it was there in time, and this program was late
			default:
				if pending == nil || !pending() {
					return t, false
				}
				wait = time.After(together)
				continue
			}
		}
		if l.end {
			return t, true
		}
		if len(t.lines) == 0 {
			t.at = l.at
		}
		if t.lines = append(t.lines, l.text); len(t.lines) == maxTyped {
			return t, false
		}
		wait = nil
		if !l.more {
			wait = time.After(together)
		}
	}
}

// readLines reads line by line. At a terminal the end of the input after half a
// line only sends it; at an empty one it is the end.
func readLines(ctx context.Context, in io.Reader, pending func() bool, out chan<- rawLine) {
	r := bufio.NewReader(in)
	for {
		text, err := readLine(r)
		l := rawLine{text: text, at: time.Now(), end: err != nil && text == ""}
		l.more = err == nil && (r.Buffered() > 0 || pending != nil && pending())
		select {
		case out <- l:
		case <-ctx.Done():
			return
		}
		if l.end {
			return
		}
	}
}

// readLine reads a line without its end. Of one that is too long the rest is
// another.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		piece, err := r.ReadSlice('\n')
		b.Write(piece)
		switch {
		case err == bufio.ErrBufferFull && b.Len() < maxLine: //nolint:errorlint // ReadSlice returns it as it is
		case err == bufio.ErrBufferFull: //nolint:errorlint // likewise
			return b.String(), nil
		default:
			return sanitize.Text(strings.TrimRight(b.String(), "\r\n")), err // a cursor key is no text
		}
	}
}
