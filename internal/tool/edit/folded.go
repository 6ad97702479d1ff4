package edit

import (
	"slices"
	"sort"
	"strings"
)

// folded matches Old ignoring trailing whitespace and look-alike characters.
// Unlike the looser passes it also matches parts of lines.
func (j *job) folded() (Done, bool, error) {
	old, tail := foldedOld(j.Old)
	if wanted, end := foldedOld(j.New); strings.TrimRight(old+tail, " \t") == strings.TrimRight(wanted+end, " \t") {
		return Done{}, false, nil
	}
	hits := j.findFolded(old+tail, false)
	if tail != "" {
		hits = append(hits, j.findFolded(old, true)...)
		slices.SortFunc(hits, func(a, b Span) int { return a.Start - b.Start })
	}
	m := newMerger(j.Old, j.New)
	var places []place
	for _, s := range hits {
		places = append(places, place{s, func() (string, error) {
			if made(j.text, s, j.Old, j.New) {
				return "", alreadyMade(lineOf(j.text, s.Start))
			}
			return m.join(linesIn(j.text, s), endAt(j.text, s.End))
		}})
	}
	return j.apply(Folded, places)
}

// foldedOld folds the lines of a text. It returns the whitespace at the end
// separately, because the text may end within a line.
func foldedOld(text string) (folded, tail string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines[:len(lines)-1] {
		lines[i] = trimRight(Fold(l))
	}
	last := Fold(lines[len(lines)-1])
	lines[len(lines)-1] = trimRight(last)
	return strings.Join(lines, "\n"), last[len(trimRight(last)):]
}

// findFolded returns the matches of old; with atEnd, only those at the end of
// a line. It stops after maxCount matches.
func (s source) findFolded(old string, atEnd bool) []Span {
	var hits []Span
	if old == "" {
		return nil
	}
	starts, ends := cursor{source: s}, cursor{source: s}
	for at := 0; len(hits) <= maxCount; at++ {
		n := strings.Index(s.folded[at:], old)
		if n < 0 {
			break
		}
		at += n
		if rest := s.folded[at+len(old):]; atEnd && rest != "" && rest[0] != '\n' {
			continue
		}
		start, ok := starts.start(at)
		end, fits := ends.end(at + len(old))
		if ok && fits && start <= end {
			hits = append(hits, Span{start, end})
		}
	}
	return hits
}

// cursor maps offsets of the folded text to offsets of the original text. They
// must be passed in ascending order.
type cursor struct {
	source
	i   int // line
	at  int // offset in the line
	sum int // the same offset in the folded line
}

// to moves to the line of a folded offset. It returns the offset within the
// folded line and the original line.
func (c *cursor) to(offset int) (want int, text string) {
	i := sort.SearchInts(c.foldedAt, offset+1) - 1
	if i != c.i {
		c.i, c.at, c.sum = i, 0, 0
	}
	return offset - c.foldedAt[i], c.line(i).text
}

// start returns where the character begins whose folded form begins at offset.
// It reports false if the offset is within a character.
func (c *cursor) start(offset int) (int, bool) {
	want, text := c.to(offset)
	for c.at < len(text) {
		key, to := unit(text, c.at)
		if key != "" && c.sum >= want {
			break
		}
		c.sum += len(key)
		c.at = to
	}
	return c.starts[c.i] + c.at, c.sum == want
}

// end returns where the character ends whose folded form ends at offset. It
// reports false if the offset is within a character.
func (c *cursor) end(offset int) (int, bool) {
	if offset == len(c.folded) && strings.HasSuffix(c.folded, "\n") {
		return len(c.text), true
	}
	want, text := c.to(offset)
	for c.at < len(text) && c.sum < want {
		key, to := unit(text, c.at)
		c.sum += len(key)
		c.at = to
	}
	return c.starts[c.i] + c.at, c.sum == want
}

// made reports whether New is already in the file, around the place that
// matches Old.
func made(text string, s Span, old, wanted string) bool {
	more := len(wanted) - len(old)
	if more <= 0 {
		return false
	}
	key, _ := foldedOld(wanted)
	around, _ := foldedOld(unixEnds(text[max(0, s.Start-2*more):min(len(text), s.End+2*more)]))
	return strings.Contains(around, key)
}
