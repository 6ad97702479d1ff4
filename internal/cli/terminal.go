package cli

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
	"golang.org/x/text/width"
)

// DefaultColumns is the assumed width of a terminal whose width is unknown.
const DefaultColumns = 80

// Columns returns the width of the terminal that w writes to, or DefaultColumns.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return DefaultColumns
}

// WrapMark marks the continuation lines of a wrapped line.
const WrapMark = "  \u00a6 "

// WrapLines breaks lines that are too long for the terminal and marks the continuations. If the
// terminal wrapped them, text of a model could imitate a line that pawl prints.
func WrapLines(text string, columns int) string {
	columns = max(columns-1, 2*len(WrapMark))
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		for _, r := range strings.TrimSuffix(line, "\n") {
			if at+RuneWidth(r) > columns {
				b.WriteString("\n" + WrapMark)
				at = len(WrapMark) - 1 // the bar takes two bytes and one column
			}
			b.WriteRune(r)
			at += RuneWidth(r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// RuneWidth returns the number of columns that r takes.
func RuneWidth(r rune) int {
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

// CountLines returns the number of lines that text takes on a terminal of the given width.
func CountLines(text string, columns int) (n int) {
	for line := range strings.Lines(text) {
		at := 0
		for _, r := range strings.TrimSuffix(line, "\n") {
			at += RuneWidth(r)
		}
		n += max(1, (at+columns-1)/columns)
	}
	return n
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr }) // an *os.File or a *Screen
	return ok && isatty.IsTerminal(f.Fd())
}
