package edit

import (
	"strings"
	"unicode"
)

// source is a text as lines. Text after the last line end is a line if it is
// not empty. folded is the same text with each line folded, without trailing
// whitespace and with LF line ends.
type source struct {
	text, folded     string
	starts, foldedAt []int // offsets of the lines
}

func split(text string) source {
	s := source{text: text, starts: make([]int, 0, strings.Count(text, "\n")+1)}
	for at := 0; at < len(text); {
		s.starts = append(s.starts, at)
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	var b strings.Builder
	b.Grow(len(text))
	s.foldedAt = make([]int, len(s.starts))
	for i := range s.starts {
		s.foldedAt[i] = b.Len()
		l := s.line(i)
		b.WriteString(trimRight(Fold(l.text)))
		if l.end != "" {
			b.WriteByte('\n')
		}
	}
	s.folded = b.String()
	return s
}

// foldedLine returns a line in folded form.
func (s source) foldedLine(i int) string {
	to := len(s.folded)
	if i+1 < len(s.foldedAt) {
		to = s.foldedAt[i+1]
	}
	return strings.TrimSuffix(s.folded[s.foldedAt[i]:to], "\n")
}

// line is a line of a file with its end: LF, CRLF or "".
type line struct{ text, end string }

func (s source) line(i int) line {
	to := len(s.text)
	if i+1 < len(s.starts) {
		to = s.starts[i+1]
	}
	return cutEnd(s.text[s.starts[i]:to])
}

func cutEnd(text string) line {
	switch {
	case strings.HasSuffix(text, "\r\n"):
		return line{text[:len(text)-2], "\r\n"}
	case strings.HasSuffix(text, "\n"):
		return line{text[:len(text)-1], "\n"}
	}
	return line{text: text}
}

// linesIn returns the lines of a span. The first and the last are cut to the
// span, but each keeps its line end. There is always one line more than line
// ends in the span.
func linesIn(text string, s Span) []line {
	var lines []line
	at := s.Start
	for {
		n := strings.IndexByte(text[at:], '\n')
		to := len(text)
		if n >= 0 {
			to = at + n + 1
		}
		l := cutEnd(text[at:to])
		if n < 0 || to > s.End {
			l.text = text[at:min(s.End, at+len(l.text))]
			return append(lines, l)
		}
		lines = append(lines, l)
		at = to
	}
}

// endAt returns the line end at an offset: that of its line or, if it has
// none, of the line before it.
func endAt(text string, at int) string {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return cutEnd(text[:at+n+1]).end
	}
	if n := strings.LastIndexByte(text[:at], '\n'); n >= 0 {
		return cutEnd(text[:n+1]).end
	}
	return "\n"
}

// unixEnds replaces CRLF with LF.
func unixEnds(text string) string {
	if !strings.Contains(text, "\r\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range len(lines) - 1 {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return strings.Join(lines, "\n")
}

// lineOf returns the line number, from 1, of an offset.
func lineOf(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }

func hasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// ends splits a line into leading whitespace, text and trailing whitespace.
func ends(text string) (lead, core, tail string) {
	rest := strings.TrimLeftFunc(text, isBlank)
	core = strings.TrimRightFunc(rest, isBlank)
	return text[:len(text)-len(rest)], core, rest[len(core):]
}

func isBlank(r rune) bool {
	switch r {
	case ' ', '\t', '\r', '\v', '\f':
		return true
	}
	return r > 0x7f && alike(r) == " "
}
