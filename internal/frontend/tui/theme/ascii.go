package theme

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// signs are what stands for the signs of the screen where a terminal has none but
// those of ASCII. Each takes one cell, as its sign does. A test holds every sign in
// the source of the screen to this table.
var asciiSymbols = map[rune]byte{
	'─': '-', '│': '|', '┃': '|', '┼': '+', '╭': '+', '╮': '+', '╰': '+', '╯': '+',
	'▌': '|', '▏': '_', '…': '~', '⋯': '~', '·': '-', '•': '*', '›': '>', '→': '>', '←': '<', '↓': 'v', '↑': '^',
	'●': '*', '◌': 'o', '○': '.', '⊘': '/', '■': '#', '✓': 'v', '✗': 'x', '▸': '>', '▾': 'v', '☐': '.', '☑': 'x', '☒': '-',
	'█': '#', '▉': '#', '▊': '#', '▋': '=', '▍': '-', '▎': '-', '◐': '|', '◓': '/', '◑': '-', '◒': '\\', '␛': '^',
}

// unknown stands in each cell of what has no sign in ASCII.
const unknownSymbol = "?"

// ASCII is what is drawn, for a terminal that knows no other signs. Every line
// keeps its width; sequences of the terminal stay as they are. It is for the last
// step before the terminal: what is copied and sent keeps its own signs.
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

// asciiOf is ASCII for one sign or sequence of so many cells.
func toASCII(seq string, width int) string {
	r, n := utf8.DecodeRuneInString(seq)
	switch {
	case r < utf8.RuneSelf && n == len(seq), width == 0 && r < utf8.RuneSelf:
		return seq
	case r < utf8.RuneSelf: // with marks above it
		return seq[:1]
	}
	if sign, ok := asciiSymbols[r]; ok && width == 1 {
		return string(sign)
	}
	return strings.Repeat(unknownSymbol, width)
}
