package patch

import (
	"slices"
	"strings"
	"unicode"
)

const bom = "\ufeff"

// text is a file as lines. A line is its content and its end: LF, CRLF or, at
// the end of the file, "".
type text struct {
	bom    string
	body   string
	starts []int // offsets of the lines in body, and of the end of the last
}

func cut(file string) *text {
	body := strings.TrimPrefix(file, bom)
	t := &text{bom: file[:len(file)-len(body)], body: body}
	t.starts = make([]int, 1, strings.Count(body, "\n")+2)
	for at := 0; at < len(body); {
		n := strings.IndexByte(body[at:], '\n') + 1
		if n == 0 {
			n = len(body) - at
		}
		at += n
		t.starts = append(t.starts, at)
	}
	return t
}

func (t *text) len() int { return len(t.starts) - 1 }

// raw returns the lines [from, to) with their ends.
func (t *text) raw(from, to int) string { return t.body[t.starts[from]:t.starts[to]] }

func (t *text) line(i int) string {
	line := t.raw(i, i+1)
	return line[:len(line)-len(lineEnd(line))]
}

func (t *text) end(i int) string { return lineEnd(t.raw(i, i+1)) }

func lineEnd(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	default:
		return ""
	}
}

// usualEnd returns the line end that most lines have.
func (t *text) usualEnd() string {
	if 2*strings.Count(t.body, "\r\n") > strings.Count(t.body, "\n") {
		return "\r\n"
	}
	return "\n"
}

// unmarked returns the hunks without byte order marks, which are not part of a
// line here. Some models copy the mark from what they read.
func unmarked(hunks []Hunk) []Hunk {
	hunks = slices.Clone(hunks)
	for i := range hunks {
		hunks[i].Lines = slices.Clone(hunks[i].Lines)
		for j, l := range hunks[i].Lines {
			hunks[i].Lines[j].Text = strings.TrimPrefix(l.Text, bom)
		}
	}
	return hunks
}

// indent returns the whitespace at the beginning of a line.
func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }
