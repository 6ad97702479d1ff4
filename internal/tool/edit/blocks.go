package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// trimmed matches whole lines, ignoring leading and trailing whitespace.
func (j *job) trimmed() (Done, bool, error) {
	return j.blocks(Trimmed, j.block(LineTrimmed))
}

// spaced matches whole lines, treating all runs of whitespace alike.
// Whitespace must not be missing altogether: without it, two words would
// become one.
func (j *job) spaced() (Done, bool, error) {
	if j.All {
		return Done{}, false, nil
	}
	return j.blocks(Spaced, j.spacedBlock())
}

func (j *job) blocks(pass Pass, b *block) (Done, bool, error) {
	if b.same {
		return Done{}, false, nil
	}
	m := newMerger(b.old, b.wanted)
	m.loose = true
	var places []place
	for _, first := range b.index.Find(b.ids, maxCount+1) {
		places = append(places, b.place(m, first, first+len(b.ids)))
	}
	if pass == Trimmed && len(places) > 0 && m.shift(linesIn(j.text, places[0].Span)).moves() {
		pass = Shifted
	}
	return j.apply(pass, places)
}

// block is Old as whole lines. A line end at the end of Old belongs to its
// last line; the file keeps its own, unless New is empty.
type block struct {
	*job
	old, wanted string
	keys        []string // of the lines of Old
	index       *Index
	ids         []int32 // of the lines of Old, in the index
	wantedIDs   []int32 // of the lines of New
	file        []int32 // of the lines of the file; -1 for lines that neither Old nor New has
	same        bool    // New equals Old at this level
	cut         bool    // whole lines are deleted
}

// spacedBlock returns the block at LineSpaced. It is computed once, for the
// last passes and for explaining a refusal.
func (j *job) spacedBlock() *block {
	if j.spaces == nil {
		j.spaces = j.block(LineSpaced)
	}
	return j.spaces
}

// block compares the lines of Old, New and the file at a level.
func (j *job) block(level Level) *block {
	b := &block{job: j, old: j.Old, wanted: j.New}
	if body, ok := strings.CutSuffix(j.Old, "\n"); ok {
		b.old, b.wanted = body, strings.TrimSuffix(j.New, "\n")
		b.cut = j.New == ""
	}
	b.keys = level.keys(strings.Split(b.old, "\n"))
	wanted := level.keys(strings.Split(b.wanted, "\n"))
	b.index = NewIndex(slices.Concat(b.keys, wanted), len(j.starts), func(i int) string { return level.foldedKey(j.foldedLine(i)) })
	b.ids, b.wantedIDs, b.file = b.index.IDs(b.keys), b.index.IDs(wanted), b.index.file
	b.same = slices.Equal(b.ids, b.wantedIDs) && !b.cut
	return b
}

// place returns the place of a block that matches the lines [first, last) of
// the file.
func (b *block) place(m *merger, first, last int) place {
	l := b.line(last - 1)
	s := Span{b.starts[first], b.starts[last-1] + len(l.text)}
	if b.cut {
		s.End += len(l.end)
		return place{s, func() (string, error) {
			if _, err := m.join(linesIn(b.text, s), ""); errors.Is(err, errConflict) {
				return "", err // the lines to delete are not complete
			}
			return "", nil
		}}
	}
	return place{s, func() (string, error) {
		if b.made(first, last) {
			return "", alreadyMade(first + 1)
		}
		text, err := m.join(linesIn(b.text, s), endAt(b.text, s.End))
		if errors.Is(err, errIndent) {
			err = fmt.Errorf("%w. Copy it from the file:\n%s", err, b.show(first, last))
		}
		return text, err
	}}
}

// made reports whether New is already in the file, around the place that
// matches Old.
func (b *block) made(first, last int) bool {
	more := len(b.wantedIDs) - len(b.ids)
	if more <= 0 {
		return false
	}
	around := b.file[max(0, first-more):min(len(b.file), last+more)]
	return len(findSequence(around, b.wantedIDs, 1)) > 0
}
