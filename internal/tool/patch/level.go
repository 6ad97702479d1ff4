package patch

import (
	"strings"
	"unicode"
)

// level is how closely a line of a patch must be like a line of the file. The
// first level at which a hunk is found counts; looser ones are not tried.
type level int

const (
	exact   level = iota
	ragged        // whatever space follows
	trimmed       // whatever space stands around it
	folded        // whatever kind of quote, dash or space, too
	levels
)

// of returns what is compared of a line.
func (l level) of(line string) string {
	switch l {
	case ragged:
		return strings.TrimRightFunc(line, unicode.IsSpace)
	case trimmed:
		return strings.TrimSpace(line)
	case folded:
		return strings.TrimSpace(strings.Map(fold, line))
	default:
		return line
	}
}

// fold returns the character of a keyboard that a model may write for r.
func fold(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0x2018 && r <= 0x201b:
		return '\''
	case r >= 0x201c && r <= 0x201f:
		return '"'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r == 0xa0, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	default:
		return r
	}
}

// indent is the space at the beginning of a line.
func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }
