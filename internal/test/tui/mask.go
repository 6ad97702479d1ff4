package tui

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of environments, which all have the same length.
const (
	prefix  = "pawl-"
	nameLen = 8
)

// masks lists what differs from run to run, with its replacement.
var masks = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`/tmp/pawl-[a-z0-9]{8}\b`), "/home/ada/projects"},
	{regexp.MustCompile(`\b\d+ (h( \d+ min)?|min( \d+ s)?)\b`), "0.1 s"},
	{regexp.MustCompile(`\b\d+(\.\d)? s\b`), "0.1 s"},
	{regexp.MustCompile(`, in 0\.1 s`), ", in 20 s"},
	{regexp.MustCompile(`\b\d\d seconds left`), "58 seconds left"},
	{regexp.MustCompile(`( \d|\d\d) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d\d:\d\d\b`), "15 Nov 10:00"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`), "2026-11-05"},
	{regexp.MustCompile(`\b\d\d:\d\d(:\d\d)?\b`), "10:00"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d+\b`), "127.0.0.1:40123"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "00000000-0000-0000-0000-000000000000"},
	{regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`), "01JD3V5M8Q0000000000000000"},
	{regexp.MustCompile(`[⠀-⣿◐◓◑◒]`), "⠋"},
	{regexp.MustCompile(`⠋ (\d+h ?)?(\d+m ?)?\d+s\b`), "⠋ 1s"},
}

// masked replaces everything that differs from run to run.
func masked(s Screen) Screen {
	for i, row := range s {
		for _, m := range masks {
			row = mask(row, m.pattern, m.text)
		}
		s[i] = untimed(row)
	}
	return s
}

// card matches the line of a call with its duration, which is shown only for slow
// calls.
var card = regexp.MustCompile(`^.[●✗◌*x] .*( [·-] 0\.1 s) *$`)

// untimed removes the duration of a call.
func untimed(row []Cell) []Cell {
	found := card.FindStringSubmatchIndex(textOf(row))
	if found == nil {
		return row
	}
	return row[:cellAt(row, found[2])]
}

// mask replaces the matches of a pattern in a row. Blanks after a match compensate
// for a change of its length, so that the rest stays in its column.
func mask(row []Cell, pattern *regexp.Regexp, text string) []Cell {
	found := pattern.FindAllStringIndex(textOf(row), -1)
	for i := len(found) - 1; i >= 0; i-- { // from the end, so that offsets stay valid
		from, to := cellAt(row, found[i][0]), cellAt(row, found[i][1])
		put := cells(text, row[from].Style)
		before, rest, by := row[:from:from], row[to:], len(put)-(to-from)
		switch {
		case by == 0:
		case strings.Contains(textOf(rest), "  "):
			rest = moved(rest, by)
		case strings.HasSuffix(textOf(rest), "│"): // right-aligned in a frame
			before = shortened(before, by)
		}
		row = slices.Concat(before, put, rest)
	}
	return row
}

// shortened returns the start of a row with that many blanks fewer, or more.
func shortened(row []Cell, by int) []Cell {
	const wide = "   " // right-aligned text follows more than two blanks
	at := strings.LastIndex(textOf(row), wide)
	if at < 0 {
		return row
	}
	gap := cellAt(row, at) + len(wide) - 1
	if by < 0 {
		return slices.Insert(slices.Clone(row), gap, cells(strings.Repeat(" ", -by), row[gap].Style)...)
	}
	begin := gap
	for begin > 0 && row[begin-1].Text == " " && gap-begin < by {
		begin--
	}
	return slices.Concat(row[:begin], row[gap:])
}

// moved returns the rest of a row shifted by that many cells, with as many blanks
// fewer, or more.
func moved(rest []Cell, by int) []Cell {
	text := textOf(rest)
	at := strings.Index(text, "  ")
	if at < 0 {
		return rest
	}
	gap := cellAt(rest, at)
	if by < 0 {
		blanks := cells(strings.Repeat(" ", -by), rest[gap].Style)
		return append(append(rest[:gap:gap], blanks...), rest[gap:]...)
	}
	end := gap
	for end < len(rest)-1 && rest[end+1].Text == " " && end-gap < by {
		end++
	}
	return append(rest[:gap:gap], rest[end:]...)
}

// cells returns a text in one style, one cell per character.
func cells(text string, s Style) []Cell {
	row := make([]Cell, 0, utf8.RuneCountInString(text))
	for _, r := range text {
		row = append(row, Cell{string(r), s})
	}
	return row
}

// cellAt returns the index of the cell at an offset of the row's text.
func cellAt(row []Cell, at int) int {
	for i, c := range row {
		if at <= 0 && c.Text != "" {
			return i
		}
		at -= len(c.Text)
	}
	return len(row)
}
