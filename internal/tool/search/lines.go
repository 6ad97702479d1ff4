package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Line is a line of a file in an answer.
type Line struct {
	Number int
	Text   string // valid UTF-8, cut if it is long
	Hit    bool   // it matches; otherwise it is context
}

// excerpt is a sink that keeps the first lines that match, with context.
type excerpt struct {
	pattern *Pattern
	hits    int // still wanted
	context int
	chars   int // of a line

	lines  []Line
	number int    // lines read
	before []Line // the latest lines that are not in the answer, for context
	after  int    // lines of context still wanted
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

// read counts lines. A piece of a line has no break and is counted with its end.
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

// cut returns so many characters of a text, around a place in it, with marks
// where something is missing.
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

// back returns the place so many characters before another.
func back(text []byte, at, chars int) int {
	for ; chars > 0 && at > 0; chars-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}
