package lineui

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// pasteGap is the longest pause between two lines of the same paste. Nobody types that
// fast.
const pasteGap = 30 * time.Millisecond

// maxTyped bounds the lines of one paste and maxLine the bytes of one line; terminals
// deliver less.
const (
	maxTyped = 10_000
	maxLine  = 1 << 20
)

// userInput is what the user entered at once: a line, or the lines of a paste.
type userInput struct {
	lines []string
	at    time.Time // when the first line was read
	end   bool      // end of input
}

// pasted reports whether it is more than one line, which nobody types at once.
func (t userInput) pasted() bool { return len(t.lines) > 1 }

func (t userInput) text() string { return strings.Join(t.lines, "\n") }

// rawLine is one line as it was read.
type rawLine struct {
	text string
	at   time.Time
	more bool // more input was available when it was read
	end  bool
}

// read delivers the user's input until ctx ends. Lines that were available at once, or
// came within pasteGap of each other, are delivered together.
func read(ctx context.Context, in io.Reader, pending func() bool, out chan<- userInput) {
	lines := make(chan rawLine)
	go readLines(ctx, in, pending, lines)
	for {
		got, ended := gather(ctx, lines, pending)
		for _, t := range []userInput{got, {end: true}} {
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

// gather returns the next line together with the other lines of the same paste. It
// reports whether the input has ended.
func gather(ctx context.Context, lines <-chan rawLine, pending func() bool) (t userInput, ended bool) {
	var wait <-chan time.Time // how long to wait for another line; nil means forever
	for {
		var l rawLine
		select {
		case l = <-lines:
		case <-ctx.Done():
			return t, true
		case <-wait:
			select {
			case l = <-lines: // the line was in time; this goroutine was late
			default:
				if pending == nil || !pending() {
					return t, false
				}
				wait = time.After(pasteGap)
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
			wait = time.After(pasteGap)
		}
	}
}

// readLines reads line by line. At a terminal, Ctrl-D after part of a line submits
// that part; on an empty line it ends the input.
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

// readLine reads a line without its line ending. A line longer than maxLine is split.
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
