package theme

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// asciiSymbols maps the symbols of the UI to ASCII characters of the same width. A
// test checks that every symbol in the source is listed.
var asciiSymbols = map[rune]byte{
	'─': '-', '│': '|', '┃': '|', '┼': '+', '╭': '+', '╮': '+', '╰': '+', '╯': '+',
	'▌': '|', '▏': '_', '…': '~', '⋯': '~', '·': '-', '•': '*', '›': '>', '❯': '>', '→': '>', '←': '<', '↓': 'v', '↑': '^',
	'●': '*', '◌': 'o', '○': '.', '⊘': '/', '■': '#', '✓': 'v', '✗': 'x', '▸': '>', '▾': 'v', '☐': '.', '☑': 'x', '☒': '-',
	'█': '#', '▉': '#', '▊': '#', '▋': '=', '▍': '-', '▎': '-', '◐': '|', '◓': '/', '◑': '-', '◒': '\\', '␛': '^',
}

// unknownSymbol replaces each cell of any other character.
const unknownSymbol = "?"

// ASCII converts a drawing for a terminal without Unicode. Lines keep their width and
// escape sequences. It is applied last, so that copied and sent text keeps its
// characters.
func ASCII(drawn string) string {
	if !strings.ContainsFunc(drawn, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return drawn
	}
	var b strings.Builder
	b.Grow(len(drawn))
	var state byte
	for len(drawn) > 0 {
		seq, width, n, next := ansi.DecodeSequence(drawn, state, nil)
		state = next
		b.WriteString(toASCII(seq, width))
		drawn = drawn[n:]
	}
	return b.String()
}

// toASCII converts a grapheme cluster or an escape sequence of that width.
func toASCII(seq string, width int) string {
	r, n := utf8.DecodeRuneInString(seq)
	switch {
	case r < utf8.RuneSelf && n == len(seq), width == 0 && r < utf8.RuneSelf:
		return seq
	case r < utf8.RuneSelf: // with combining marks
		return seq[:1]
	}
	if sign, ok := asciiSymbols[r]; ok && width == 1 {
		return string(sign)
	}
	return strings.Repeat(unknownSymbol, width)
}
