package patch

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// looseLevel is the loosest level at which a line of a patch may match a line
// of the file. The first level at which a hunk is found counts; looser ones are
// not tried.
const looseLevel = edit.LineTrimmed

// finder finds the lines of hunks in a file.
type finder struct {
	text    *text
	hunks   []Hunk
	indexes [looseLevel + 1]*edit.Index // made on first use, once for all hunks
}

func newFinder(t *text, hunks []Hunk) *finder { return &finder{text: t, hunks: hunks} }

func (f *finder) index(l edit.Level) *edit.Index {
	if f.indexes[l] != nil {
		return f.indexes[l]
	}
	var keys []string
	for i := range f.hunks {
		keys = append(keys, lineKeys(f.hunks[i].old(), l)...)
		keys = append(keys, lineKeys(f.hunks[i].Headers, l)...)
	}
	f.indexes[l] = edit.NewIndex(keys, f.text.len(), func(i int) string { return lineKey(f.text.line(i), l) })
	return f.indexes[l]
}

// lineKey returns the part of a line that is compared at a level. A line with
// decomposed characters (e and a combining accent) matches itself only: unlike
// an edit, a hunk cannot keep the file's spelling in the lines that it replaces.
func lineKey(line string, l edit.Level) string {
	switch {
	case l == edit.LineExact || norm.NFC.IsNormalString(line):
		return l.Key(line)
	case l == edit.LineFolded:
		return strings.TrimRightFunc(line, unicode.IsSpace)
	default:
		return strings.TrimSpace(line)
	}
}

func lineKeys(lines []string, l edit.Level) []string {
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = lineKey(line, l)
	}
	return keys
}

// find returns every line of the file, in order, at which the pattern matches.
// The pattern is at least one line, all from the hunks.
func (f *finder) find(pattern []string, l edit.Level) []int {
	x := f.index(l)
	return x.Find(x.IDs(lineKeys(pattern, l)), 0)
}

// from returns the places at or after a line. The places must be sorted.
func from(places []int, line int) []int {
	i, _ := slices.BinarySearch(places, line)
	return places[i:]
}
