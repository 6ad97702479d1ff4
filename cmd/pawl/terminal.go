package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
	"golang.org/x/text/width"
)

// defaultColumns is the width of a terminal that does not tell.
const defaultColumns = 80

// columns is how wide the terminal is.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return defaultColumns
}

// wrapMark begins what a long line goes on with.
const wrapMark = "  \u00a6 "

// barred breaks lines that are too long for the screen. The terminal would break
// them too, and what the model wrote would then stand at the beginning of a line,
// where it could pass for pawl's own words.
func barred(text string, columns int) string {
	columns = max(columns-1, 2*len(wrapMark))
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		for _, r := range strings.TrimSuffix(line, "\n") {
			if at+cells(r) > columns {
				b.WriteString("\n" + wrapMark)
				at = len(wrapMark) - 1 // its bar has two bytes
			}
			b.WriteRune(r)
			at += cells(r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cells is how many columns a character takes.
func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// linesOn is how many lines of a terminal a text takes.
func linesOn(text string, columns int) (n int) {
	for line := range strings.Lines(text) {
		at := 0
		for _, r := range strings.TrimSuffix(line, "\n") {
			at += cells(r)
		}
		n += max(1, (at+columns-1)/columns)
	}
	return n
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr }) // a file, or a screen
	return ok && isatty.IsTerminal(f.Fd())
}
