package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	binaryBytes = 8 << 10  // a NUL in the first so many bytes makes a file binary, as for the read tool
	blockBytes  = 64 << 10 // read at a time
	longBytes   = 1 << 20  // longer lines are matched in a way that can be interrupted
	lineBytes   = 64 << 20 // longest line that is matched as a whole
)

var errBinary = errors.New("it is a binary file")

func binary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), binaryBytes)], 0) >= 0
}

// sink receives the lines of a file, in order. Each has its line break, except
// possibly the last.
type sink interface {
	skip(lines []byte)    // lines without a match
	hit(line []byte) bool // a matching line; false ends the scan
}

// scanner reads files in blocks of whole lines. It reuses its buffer for the
// next file.
type scanner struct {
	pattern *Pattern
	buffer  []byte
	longest int // longer lines are matched in pieces; 0 means lineBytes
}

// scan passes all lines of r to a sink. It stops early with errBinary, or with
// the error of ctx or r.
func (s *scanner) scan(ctx context.Context, r io.Reader, to sink) error {
	if len(s.buffer) == 0 || len(s.buffer) > longBytes {
		s.buffer = make([]byte, blockBytes)
	}
	longest := cmp.Or(s.longest, lineBytes)
	held, known := 0, false // known: the line that continues in this block has matched already
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := io.ReadFull(r, s.buffer[held:])
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		data := s.buffer[:held+n]
		if first && binary(data) {
			return errBinary
		}
		whole := len(data)
		if !ended {
			whole = 0
			if last := bytes.LastIndexByte(data[held:], '\n'); last >= 0 { // the held bytes contain no line break
				whole = held + last + 1
			}
		}
		if whole == 0 && !ended {
			if len(s.buffer) < longest {
				s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
				held = len(data)
				continue
			}
			whole = len(data)
		}
		block := data[:whole]
		if known {
			rest := lineEnd(block, 0)
			to.skip(block[:rest])
			block = block[rest:]
		}
		last, more := s.block(ctx, block, to)
		if !more || ended {
			return ctx.Err()
		}
		open := data[whole-1] != '\n'
		known = open && (last || known && len(block) == 0)
		held = copy(s.buffer, data[whole:])
	}
}

// block passes whole lines to a sink. It reports whether the last line
// matched, and whether the sink wants more.
func (s *scanner) block(ctx context.Context, data []byte, to sink) (last, more bool) {
	find := newFinder(s.pattern.needles, data)
	for from := 0; from < len(data); {
		start, end := s.next(ctx, find, data, from)
		if start > from {
			to.skip(data[from:start])
		}
		if start == len(data) {
			return false, true
		}
		if !to.hit(data[start:end]) {
			return true, false
		}
		from = end
	}
	return len(data) > 0, true
}

// next returns the bounds of the next matching line, or len(data) twice.
func (s *scanner) next(ctx context.Context, find *finder, data []byte, from int) (start, end int) {
	for from < len(data) {
		at := from
		if len(s.pattern.needles) > 0 {
			at = find.next(from)
		}
		if at == len(data) {
			break
		}
		start, end := from+bytes.LastIndexByte(data[from:at], '\n')+1, lineEnd(data, at)
		if s.pattern.plain || s.pattern.matches(ctx, data[start:end]) {
			return start, end
		}
		from = end
	}
	return len(data), len(data)
}

// lineEnd returns the end of the line at an offset, after its line break.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// matches reports whether a line matches. It returns false if ctx has ended.
func (p *Pattern) matches(ctx context.Context, line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) > longBytes {
		return p.line.MatchReader(&runes{done: ctx.Err, text: line}) && ctx.Err() == nil
	}
	return p.line.Match(line)
}

// runes reads a text until its end or until done returns an error.
type runes struct {
	done func() error
	text []byte
	read int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.read++; r.read%blockBytes == 0 && r.done() != nil || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
