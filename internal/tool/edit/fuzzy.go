package edit

import (
	"slices"
	"strings"
)

// This file holds the fuzzy matching of lines: the passes of the edit tool in
// their order, and what package patch shares with them.

// Pass says how a text was matched.
type Pass string

// The passes in the order in which they are tried. A pass that matches more
// than one place refuses the edit instead of leaving it to a looser pass.
// Trimmed and Shifted match the same places.
const (
	Exact     Pass = "exact"     // byte by byte; a line end in Old matches LF and CRLF
	Folded    Pass = "folded"    // ignores trailing whitespace and differences between look-alike characters
	Trimmed   Pass = "trimmed"   // ignores leading whitespace too
	Shifted   Pass = "shifted"   // the whole block is indented differently, by one rule
	Spaced    Pass = "spaced"    // any run of whitespace matches any other
	Unescaped Pass = "unescaped" // Old spells line ends, tabs or quotes as \n, \t, \"
	Anchored  Pass = "anchored"  // the first and the last line match, and most of what is between them
)

// fuzzy tries the passes after Exact. It reports false if none matches.
func (j *job) fuzzy() (Done, bool, error) {
	if !hasWord(j.Old) { // punctuation alone matches by chance
		return Done{}, false, nil
	}
	for _, pass := range []func() (Done, bool, error){j.folded, j.trimmed, j.spaced, j.unescaped, j.anchored} {
		if done, found, err := pass(); found || err != nil {
			return done, found, err
		}
	}
	return Done{}, false, nil
}

// Level says which differences between two lines are ignored. Each level
// ignores all that the ones before it do.
type Level int

// The levels, the strictest first.
const (
	LineExact   Level = iota
	LineFolded        // trailing whitespace and look-alike characters
	LineTrimmed       // leading whitespace
	LineSpaced        // the length and kind of whitespace within the line
)

// Key returns the part of a line that is compared: two lines match at a level
// if their keys are equal.
func (l Level) Key(line string) string {
	if l == LineExact {
		return line
	}
	return l.foldedKey(Fold(line))
}

// foldedKey is Key for a line that is folded already.
func (l Level) foldedKey(folded string) string {
	switch l {
	case LineTrimmed:
		return trimmedKey(folded)
	case LineSpaced:
		return spacedKey(folded)
	default:
		return trimRight(folded)
	}
}

func (l Level) keys(lines []string) []string {
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = l.Key(line)
	}
	return keys
}

func trimmedKey(folded string) string { return strings.Trim(folded, asciiBlanks) }

// spacedKey trims a line and makes each run of whitespace one space. It
// allocates only if there is something to replace.
func spacedKey(folded string) string {
	key := trimmedKey(folded)
	for i := range len(key) {
		if c := key[i]; c == '\t' || c >= '\v' && c <= '\r' || c == ' ' && key[i-1] == ' ' {
			return strings.Join(strings.FieldsFunc(key, isBlank), " ")
		}
	}
	return key
}

// Index finds blocks of lines in a file. It numbers the distinct keys of the
// lines that are wanted, so that a block is compared as a sequence of numbers.
type Index struct {
	ids   map[string]int32
	file  []int32   // the id of each line of the file, -1 if it is not wanted
	where [][]int32 // for each id, its lines in the file
}

// NewIndex indexes a file of n lines for a search for lines with the wanted
// keys. key returns the key of a line of the file, by its index.
func NewIndex(wanted []string, n int, key func(i int) string) *Index {
	x := &Index{ids: map[string]int32{}, file: make([]int32, n)}
	for _, k := range wanted {
		if _, ok := x.ids[k]; !ok {
			x.ids[k] = int32(len(x.ids))
		}
	}
	x.where = make([][]int32, len(x.ids))
	for i := range x.file {
		id, ok := x.ids[key(i)]
		if !ok {
			x.file[i] = -1
			continue
		}
		x.file[i] = id
		x.where[id] = append(x.where[id], int32(i))
	}
	return x
}

// IDs returns the ids of keys, all of which must be among the wanted ones.
func (x *Index) IDs(keys []string) []int32 {
	ids := make([]int32, len(keys))
	for i, k := range keys {
		ids[i] = x.ids[k]
	}
	return ids
}

// Find returns the lines of the file at which a block starts, in order, up to
// limit of them; 0 means all. Overlapping ones count. The block must not be empty.
func (x *Index) Find(block []int32, limit int) []int {
	rarest := 0 // the line of the block that the file has least often
	for i, id := range block {
		if len(x.where[id]) < len(x.where[block[rarest]]) {
			rarest = i
		}
	}
	hits := x.where[block[rarest]]
	if len(hits)*len(block) > len(x.file) {
		return findSequence(x.file, block, limit)
	}
	var found []int
	for _, hit := range hits {
		start := int(hit) - rarest
		if start < 0 || start+len(block) > len(x.file) || !slices.Equal(x.file[start:start+len(block)], block) {
			continue
		}
		if found = append(found, start); len(found) == limit {
			break
		}
	}
	return found
}

// findSequence returns where a sequence occurs in text, overlapping ones too,
// up to limit; 0 means all. It takes linear time (Knuth, Morris and Pratt).
func findSequence(text, sequence []int32, limit int) []int {
	if len(sequence) == 0 || len(sequence) > len(text) {
		return nil
	}
	// border[i] is the length of the longest proper prefix of sequence[:i] that is also its suffix.
	border := make([]int, len(sequence)+1)
	border[0] = -1
	for i, k := 0, -1; i < len(sequence); {
		for k >= 0 && sequence[i] != sequence[k] {
			k = border[k]
		}
		i++
		k++
		border[i] = k
	}
	var found []int
	k := 0
	for i, id := range text {
		for k >= 0 && (k == len(sequence) || sequence[k] != id) {
			k = border[k]
		}
		if k++; k == len(sequence) {
			found = append(found, i+1-k)
			if len(found) == limit {
				break
			}
		}
	}
	return found
}

const (
	maxVotes      = 8   // equal lines of a block that vote for its place
	minSimilarity = 0.5 // share of the byte pairs of a line that a similar line has
)

// Nearest returns the line of the file at which a block that was not found
// would start: where most of its lines are, weighted by their length, or else
// where a line is similar to its longest line. The result can be negative, if
// the file lacks the block's first lines. The block's keys must be among the
// wanted ones; line returns a line of the file for the comparison.
func (x *Index) Nearest(block []string, line func(i int) string) (start int, ok bool) {
	if len(x.file) == 0 || len(block) == 0 {
		return 0, false
	}
	in := map[int32][]int{} // the lines of the block by id
	longest := 0
	for i, key := range block {
		if id := x.ids[key]; hasWord(key) && len(in[id]) < maxVotes {
			in[id] = append(in[id], i)
		}
		if len(key) > len(block[longest]) {
			longest = i
		}
	}
	zero := len(block) // the index in votes of a block that starts at the file's first line
	votes := make([]int, zero+len(x.file))
	best := zero
	for i, id := range x.file {
		if id < 0 {
			continue
		}
		for _, k := range in[id] {
			at := i - k + zero
			votes[at] += min(len(block[k]), maxQuote)
			if n := votes[at]; n > votes[best] || n == votes[best] && at >= zero && (best < zero || at < best) {
				best = at
			}
		}
	}
	if votes[best] > 0 {
		return best - zero, true
	}
	i, ok := mostSimilar(block[longest], len(x.file), line)
	return i - longest, ok
}

// mostSimilar returns which of n lines shares most pairs of adjacent bytes with text.
func mostSimilar(text string, n int, line func(i int) string) (int, bool) {
	pairs := func(text string, visit func(pair int)) {
		for i := 1; i < len(text); i++ {
			visit(int(text[i-1])<<8 | int(text[i]))
		}
	}
	var wanted, seen [1 << 16]int32 // seen holds the last line that has the pair
	count := 0
	pairs(text, func(p int) {
		if wanted[p] == 0 {
			wanted[p] = 1
			count++
		}
	})
	best, found := 0.0, 0
	for i := range n {
		l := line(i)
		hits := 0
		pairs(l, func(p int) {
			if wanted[p] != 0 && seen[p] != int32(i+1) {
				seen[p] = int32(i + 1)
				hits++
			}
		})
		// A long line has many pairs by chance.
		length := float64(min(len(text), len(l))) / float64(max(len(text), len(l), 1))
		score := float64(hits) / float64(max(count, 1)) * (0.75 + 0.25*length)
		if score > best {
			best, found = score, i
		}
	}
	return found, best >= minSimilarity
}
