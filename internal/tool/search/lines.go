package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Line is a line of a file in a result.
type Line struct {
	Number int
	Text   string // valid UTF-8, truncated if it is long
	Hit    bool   // a match; otherwise context
}

// excerpt is a sink that keeps the first matching lines with context.
type excerpt struct {
	pattern *Pattern
	hits    int // matches still to keep
	context int
	chars   int // characters to keep of a line

	lines  []Line
	number int    // lines read so far
	before []Line // the last lines that are not in the result, for context
	after  int    // lines of context still to keep
}

func (x *excerpt) skip(lines []byte) {
	for x.after > 0 && len(lines) > 0 {
		end := lineEnd(lines, 0)
		x.lines = append(x.lines, x.line(lines[:end], x.number+1, false))
		x.read(lines[:end])
		x.after--
		lines = lines[end:]
	}
	start := len(lines)
	for range x.context {
		if start > 0 {
			start = bytes.LastIndexByte(lines[:start-1], '\n') + 1
		}
	}
	x.read(lines[:start])
	for line := range bytes.Lines(lines[start:]) {
		x.before = append(x.before, x.line(line, x.number+1, false))
		x.read(line)
	}
	x.before = slices.Delete(x.before, 0, max(0, len(x.before)-x.context))
}

func (x *excerpt) hit(line []byte) bool {
	if x.hits == 0 {
		return false
	}
	x.hits--
	x.lines = append(x.lines, x.before...)
	x.lines = append(x.lines, x.line(line, x.number+1, true))
	x.read(line)
	x.before, x.after = nil, x.context
	return x.hits > 0 || x.after > 0
}

// read counts lines. A part of a line without a line break counts when its end
// is read.
func (x *excerpt) read(lines []byte) { x.number += bytes.Count(lines, []byte{'\n'}) }

func (x *excerpt) line(text []byte, number int, hit bool) Line {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	at := 0
	if hit && len(text) > x.chars {
		if loc := x.pattern.line.FindIndex(text[:min(len(text), longBytes)]); loc != nil {
			at = loc[0]
		}
	}
	return Line{Number: number, Text: cut(text, at, x.chars), Hit: hit}
}

// cut returns up to chars characters of a text around an offset, with marks
// where text is missing.
func cut(text []byte, at, chars int) string {
	start := back(text, at, chars/4)
	end, n := start, 0
	for ; n < chars && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	start = back(text, start, chars-n)
	shown := strings.ToValidUTF8(string(text[start:end]), "\uFFFD")
	if start > 0 {
		shown = "…" + shown
	}
	if end < len(text) {
		shown += "…"
	}
	return shown
}

// back returns the offset of the position chars characters before another.
func back(text []byte, at, chars int) int {
	for ; chars > 0 && at > 0; chars-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}
