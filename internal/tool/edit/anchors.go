package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	minAlike   = 0.65     // similarity between the anchors that a match needs
	minRival   = 0.50     // similarity at which another place makes the match ambiguous
	minAnchors = 3        // lines that Old must have
	maxPairs   = 2000     // pairs of first and last lines that are compared
	maxWork    = 16 << 20 // bytes and table cells that are compared
)

// errConflict means that the file lacks a line that New changes.
var errConflict = errors.New("what new changes is not in the file as old says")

// anchored matches a block whose first and last lines are those of Old and
// whose lines between them are similar. Only lines that New leaves unchanged
// may differ: the lines that it changes must be in the file as in Old, or the
// edit could change the wrong ones.
func (j *job) anchored() (Done, bool, error) {
	if j.All {
		return Done{}, false, nil
	}
	b := j.spacedBlock()
	n := len(b.ids)
	old := strings.Split(b.old, "\n")
	if b.same || n < minAnchors || strings.TrimSpace(old[0]) == "" || strings.TrimSpace(old[n-1]) == "" || !hasWord(old[0]+old[n-1]) {
		return Done{}, false, nil
	}
	search := anchorSearch{block: b}
	found, ok := search.run()
	if !ok {
		return Done{}, false, nil
	}
	found = search.disambiguate(found)
	switch {
	case !slices.ContainsFunc(found, func(f anchorMatch) bool { return f.alike >= minAlike }):
		return Done{}, false, nil
	case len(found) > 1:
		var spans []Span
		for _, f := range found {
			spans = append(spans, Span{j.starts[f.first], j.starts[f.last-1]})
		}
		return Done{}, false, ambiguous(Anchored, j.text, spans)
	}
	f := found[0]
	if lines := f.last - f.first; lines >= tooMany(n) {
		return Done{}, false, fmt.Errorf("old has %d lines, but what begins and ends like it, lines %d to %d, has %d: take fewer lines, and copy them exactly",
			n, f.first+1, f.last, lines)
	}
	done, ok, err := j.apply(Anchored, []place{b.place(search.merger(f), f.first, f.last)})
	if errors.Is(err, errConflict) {
		return Done{}, false, nil
	}
	return done, ok, err
}

// tooMany returns the number of lines that is out of proportion to n lines of
// Old.
func tooMany(n int) int { return max(n+3, 2*n) }

type anchorSearch struct {
	*block
	work int
}

type anchorMatch struct {
	first, last int   // lines [first, last)
	at, like    []int // see merger
	alike       float64
}

// run returns all matches, including those that only make another ambiguous.
// It reports false if the search takes too long.
func (s *anchorSearch) run() ([]anchorMatch, bool) {
	var found []anchorMatch
	n := len(s.ids)
	pairs := 0
	for first, id := range s.file {
		if id != s.ids[0] {
			continue
		}
		most := min(len(s.file), first+2*tooMany(n))
		if s.work += most - first; s.work > maxWork {
			return nil, false
		}
		for last := first + 1; last < most; last++ {
			if s.file[last] != s.ids[n-1] || n >= tooMany(last+1-first) {
				continue
			}
			if pairs++; pairs > maxPairs || s.work > maxWork {
				return nil, false
			}
			if len(found) > maxCount {
				return found, true
			}
			if at, alike := s.compare(first, last+1); alike >= minRival {
				found = append(found, anchorMatch{first, last + 1, s.sure(at, first, last+1), at, alike})
			}
		}
	}
	return found, true
}

// compare returns the line of Old's lines within the lines [first, last) of
// the file, and the similarity of what is between the anchors, from 0 to 1.
func (s *anchorSearch) compare(first, last int) ([]int, float64) {
	n := len(s.ids)
	middle, cells := common(s.ids[1:n-1], s.file[first+1:last-1])
	s.work += cells + n + last - first
	at := make([]int, n)
	at[n-1] = last - first - 1
	size, same := 0, 0
	for i, k := range middle {
		at[i+1] = k
		if k >= 0 {
			at[i+1]++
		}
		size += len(s.keys[i+1])
	}
	before := 0
	for i := 1; i < n; i++ {
		if at[i] < 0 {
			continue
		}
		// Compare lines that differ in pairs, in their order.
		for o, k := before+1, at[before]+1; k < at[i]; o, k = o+1, k+1 {
			key := spacedKey(s.foldedLine(first + k))
			size += len(key)
			s.work += len(key)
			if o < i {
				s.work += min(len(key)*len(s.keys[o]), sameLimit*sameLimit)
				same += sameBytes(key, s.keys[o])
			}
		}
		if i < n-1 {
			size += len(s.keys[i])
			same += len(s.keys[i])
		}
		before = i
	}
	if size == 0 {
		return at, 1
	}
	return at, float64(2*same) / float64(size)
}

// sure returns at without the lines that the file has more or less often than
// Old: it is unclear which of them corresponds to the one in Old.
func (s *anchorSearch) sure(at []int, first, last int) []int {
	at = slices.Clone(at)
	old, file := map[int32]int{}, map[int32]int{}
	nth := make([]int, last-first) // how often the same line occurred before
	for k, id := range s.file[first:last] {
		nth[k] = file[id]
		file[id]++
	}
	for _, id := range s.ids {
		old[id]++
	}
	seen := map[int32]int{}
	for i, id := range s.ids {
		if i > 0 && i < len(at)-1 && at[i] >= 0 && (old[id] != file[id] || seen[id] != nth[at[i]]) {
			at[i] = -1
		}
		seen[id]++
	}
	return at
}

func (s *anchorSearch) merger(f anchorMatch) *merger {
	m := newMerger(s.old, s.wanted)
	m.loose, m.at, m.like = true, f.at, f.like
	return m
}

// disambiguate resolves matches that share the first line: it returns the one
// whose last line is indented as Old says, because in most languages many
// lines are a lone bracket. Old must show more than one indentation level, and
// no other match may fit even if the first line has lost its indentation.
func (s *anchorSearch) disambiguate(found []anchorMatch) []anchorMatch {
	if len(found) < 2 || len(found) > maxNumbers {
		return found
	}
	var fit []anchorMatch
	loose := 0
	for _, f := range found {
		m := s.merger(f)
		if f.first != found[0].first || len(leads(m.old[1:])) < 2 {
			return found
		}
		pairs := m.shift(linesIn(s.text, s.place(m, f.first, f.last).Span)).pairs
		if rule(pairs[1:]) != nil {
			loose++
		}
		if rule(pairs) != nil {
			fit = append(fit, f)
		}
	}
	if len(fit) == 1 && loose == 1 {
		return fit
	}
	return found
}
