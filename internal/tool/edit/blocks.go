package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// trimmed finds whole lines that are Old's but for the blanks at their ends.
func (j *job) trimmed() (Done, bool, error) {
	return j.blocks(Trimmed, j.block(trimmedKey))
}

// spaced finds whole lines that are Old's but for their blanks. A blank may
// not be missing: it could make another word.
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
	for _, first := range occurrences(b.file, b.ids, maxCount+1) {
		places = append(places, b.place(m, first, first+len(b.ids)))
	}
	if pass == Trimmed && len(places) > 0 && m.shift(linesIn(j.text, places[0].Span)).moves() {
		pass = Shifted
	}
	return j.apply(pass, places)
}

// block is Old as whole lines. A line end at the end of Old is that of its
// last line; the file's own stays, unless New is empty.
type block struct {
	*job
	old, wanted string
	ids         []int32 // what is compared of each line of Old, as numbers
	file        []int32 // the same of the file; -1 for what is not in Old
	wantedIDs   []int32
	same        bool // New is the same, as far as it is compared
	cut         bool // whole lines are taken out
}

// spacedBlock is made once: it is the last one, and the basis of the reasons.
func (j *job) spacedBlock() *block {
	if j.spaces == nil {
		j.spaces = j.block(spacedKey)
	}
	return j.spaces
}

// block compares lines by the key of what they are when folded.
func (j *job) block(key func(string) string) *block {
	b := &block{job: j, old: j.Old, wanted: j.New}
	if body, ok := strings.CutSuffix(j.Old, "\n"); ok {
		b.old, b.wanted = body, strings.TrimSuffix(j.New, "\n")
		b.cut = j.New == ""
	}
	number := map[string]int32{}
	for _, l := range strings.Split(b.old, "\n") {
		b.ids = append(b.ids, intern(number, key(fold(l))))
	}
	for _, l := range strings.Split(b.wanted, "\n") {
		b.wantedIDs = append(b.wantedIDs, intern(number, key(fold(l))))
	}
	b.same = slices.Equal(b.ids, b.wantedIDs) && !b.cut
	b.file = make([]int32, len(j.starts))
	for i := range j.starts {
		id, ok := number[key(j.foldedLine(i))]
		if !ok {
			id = -1
		}
		b.file[i] = id
	}
	return b
}

func intern(number map[string]int32, key string) int32 {
	id, ok := number[key]
	if !ok {
		id = int32(len(number))
		number[key] = id
	}
	return id
}

// place is where the block is: the lines [first, last) of the file.
func (b *block) place(m *merger, first, last int) place {
	l := b.line(last - 1)
	s := Span{b.starts[first], b.starts[last-1] + len(l.text)}
	if b.cut {
		s.End += len(l.end)
		return place{s, func() (string, error) {
			if _, err := m.join(linesIn(b.text, s), ""); errors.Is(err, errConflict) {
				return "", err // it is not all there
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

// made reports whether New is there already, around the place that Old fits.
func (b *block) made(first, last int) bool {
	more := len(b.wantedIDs) - len(b.ids)
	if more <= 0 {
		return false
	}
	around := b.file[max(0, first-more):min(len(b.file), last+more)]
	return len(occurrences(around, b.wantedIDs, 1)) > 0
}

// occurrences returns where a sequence is in another, overlapping ones too, up
// to a number. Its time does not grow with the product of the lengths.
func occurrences(text, what []int32, most int) []int {
	if len(what) == 0 || len(what) > len(text) {
		return nil
	}
	// border[i] is the length of the longest start of what that ends what[:i], itself apart.
	border := make([]int, len(what)+1)
	border[0] = -1
	for i, k := 0, -1; i < len(what); {
		for k >= 0 && what[i] != what[k] {
			k = border[k]
		}
		i++
		k++
		border[i] = k
	}
	var found []int
	k := 0
	for i, id := range text {
		for k >= 0 && (k == len(what) || what[k] != id) {
			k = border[k]
		}
		if k++; k == len(what) {
			found = append(found, i+1-k)
			if len(found) == most {
				break
			}
		}
	}
	return found
}
