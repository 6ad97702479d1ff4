package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	maxNeedles   = 16 // texts that are searched for at once
	maxSpellings = 8  // spellings of a text whose case is ignored
)

// needles returns texts of which every match contains at least one, or nil.
// Searching for them first is many times faster than matching the pattern
// everywhere.
func needles(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return spellings(re)
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := needles(sub); better(found, best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := needles(sub)
			if found == nil {
				return nil
			}
			all = append(all, found...)
		}
		if len(all) <= maxNeedles {
			return all
		}
	}
	return nil
}

// better reports whether a is preferable to b: longer texts, then fewer.
func better(a, b []string) bool {
	if a == nil || b == nil {
		return a != nil
	}
	if d := shortest(a) - shortest(b); d != 0 {
		return d > 0
	}
	return len(a) < len(b)
}

func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// spellings returns the text of a literal or, if its case is ignored, all
// spellings of its longest part that has few.
func spellings(re *syntax.Regexp) []string {
	if slices.Contains(re.Rune, utf8.RuneError) {
		return nil // in Go it also matches every invalid byte
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []string{string(re.Rune)}
	}
	var best []string
	for i := range re.Rune {
		spelled := []string{""}
		for _, r := range re.Rune[i:] {
			more := spell(spelled, folds(r))
			if len(more) > maxSpellings {
				break
			}
			spelled = more
		}
		if spelled[0] != "" && better(spelled, best) {
			best = spelled
		}
	}
	return best
}

// spell returns the texts, each extended by each rune of a class.
func spell(texts []string, class []rune) []string {
	var all []string
	for _, text := range texts {
		for pair := range slices.Chunk(class, 2) {
			all = append(all, text+string(pair[0]))
		}
	}
	return all
}

// finder searches a block for needles from front to back. It searches for each
// needle only as far as needed.
type finder struct {
	needles []string
	block   []byte
	at      []int // the next offset of each needle; smaller than the requested offset if not known
}

func newFinder(needles []string, block []byte) *finder {
	return &finder{needles, block, slices.Repeat([]int{-1}, len(needles))}
}

// next returns the offset of the first needle at or after from, or len(block).
func (f *finder) next(from int) int {
	first := len(f.block)
	for i, needle := range f.needles {
		if f.at[i] < from {
			f.at[i] = len(f.block)
			if k := bytes.Index(f.block[from:], []byte(needle)); k >= 0 {
				f.at[i] = from + k
			}
		}
		first = min(first, f.at[i])
	}
	return first
}
