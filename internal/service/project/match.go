package project

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// file is a path, prepared for matching.
type file struct {
	path    string
	lower   string // the path in lower case, or the path itself if that has another length
	letters uint64 // the set of bytes in lower; see bits
	base    int    // where the base name begins
}

func newFile(path string) file {
	lower := strings.ToLower(path)
	if len(lower) != len(path) {
		lower = path // offsets would differ
	}
	return file{path: path, lower: lower, letters: bits(lower), base: strings.LastIndexByte(path, '/') + 1}
}

// bits returns a set of the bytes in a text, as far as 64 bits can distinguish them.
func bits(s string) (set uint64) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}

// The points of a match.
const (
	pointLetter = 16  // each letter
	pointNext   = 12  // directly after the letter before
	pointWord   = 10  // at the beginning of a word
	pointPart   = 14  // at the beginning of a path element
	costGap     = 1   // each letter skipped
	maxGap      = 12  // the most a gap costs
	pointBase   = 60  // all letters are in the base name
	pointStart  = 30  // and are its prefix
	pointWhole  = 100 // and are all of it except the extension
	pointNew    = 10  // one of the newest files
	newest      = 50
	lengthCost  = 4 // bytes of a path that cost one point
)

// scored is a file that matches.
type scored struct {
	points int
	at     int // index in the list, the newest first
	length int // of the path
}

// best returns the paths that match the letters, the best first, at most limit. Several goroutines search
// the list.
func best(files []file, query string, limit int) []string {
	query = strings.ToLower(strings.ReplaceAll(query, " ", ""))
	found := make([]scored, 0, limit)
	if query == "" {
		for i := range min(limit, len(files)) {
			found = append(found, scored{at: i})
		}
	} else {
		found = scoreAll(files, query, limit)
	}
	paths := make([]string, 0, len(found))
	for _, s := range found {
		paths = append(paths, files[s.at].path)
	}
	return paths
}

// scoreAll scores all files in parallel.
func scoreAll(files []file, query string, limit int) []scored {
	parts := make([][]scored, runtime.GOMAXPROCS(0))
	size := (len(files) + len(parts) - 1) / len(parts)
	var work sync.WaitGroup
	for i := range parts {
		from, to := min(i*size, len(files)), min((i+1)*size, len(files))
		work.Go(func() { parts[i] = scorePart(files, from, to, query, limit) })
	}
	work.Wait()
	return first(slices.Concat(parts...), limit)
}

// scorePart scores a range of files. It drops files that cannot be among the best.
func scorePart(files []file, from, to int, query string, limit int) []scored {
	var found []scored
	var worst *scored // the worst of the best so far
	set := bits(query)
	for i := from; i < to; i++ {
		f := &files[i]
		if f.letters&set != set {
			continue
		}
		points, ok := f.score(query)
		if !ok {
			continue
		}
		if i < newest {
			points += pointNew
		}
		s := scored{points, i, len(f.path)}
		if worst != nil && s.compare(*worst) > 0 {
			continue
		}
		if found = append(found, s); len(found) > 2*limit+256 {
			found = first(found, limit)
			last := found[limit-1]
			worst = &last
		}
	}
	return first(found, limit)
}

// compare orders by score, then by the shorter path, then by the newer file.
func (s scored) compare(other scored) int {
	return cmp.Or(cmp.Compare(other.points, s.points), cmp.Compare(s.length, other.length), cmp.Compare(s.at, other.at))
}

func first(found []scored, limit int) []scored {
	slices.SortFunc(found, scored.compare)
	return found[:min(len(found), limit)]
}

// score returns how well a query matches, if its letters occur in the path in this order.
func (f *file) score(query string) (points int, ok bool) {
	if points, ok := f.scoreFrom(f.base, query); ok {
		points += pointBase
		name := f.lower[f.base:]
		if strings.HasPrefix(name, query) {
			points += pointStart
			if rest := name[len(query):]; rest == "" || rest[0] == '.' {
				points += pointWhole
			}
		}
		return points - len(f.path)/lengthCost, true
	}
	points, ok = f.scoreFrom(0, query)
	return points - len(f.path)/lengthCost, ok
}

// scoreFrom scores the path from an offset on. Searching the letters from the left finds where a match
// ends; searching back from there finds where the shortest match with that end begins.
func (f *file) scoreFrom(from int, query string) (points int, ok bool) {
	end, q := from, 0
	for ; end < len(f.lower) && q < len(query); end++ {
		if f.lower[end] == query[q] {
			q++
		}
	}
	if q < len(query) {
		return 0, false
	}
	last, gap := -1, 0
	for at := end - 1; q > 0; at-- {
		if f.lower[at] != query[q-1] {
			gap++
			continue
		}
		q--
		points += pointLetter + f.beginning(at)
		switch {
		case last == at+1:
			points += pointNext
		case last >= 0:
			points -= costGap * min(gap, maxGap)
		}
		last, gap = at, 0
	}
	return points, true
}

// beginning returns the points of a letter for its position.
func (f *file) beginning(at int) int {
	if at == 0 || f.path[at-1] == '/' {
		return pointPart
	}
	before, _ := utf8.DecodeLastRuneInString(f.path[:at])
	here, _ := utf8.DecodeRuneInString(f.path[at:])
	switch {
	case !unicode.IsLetter(before) && !unicode.IsDigit(before):
		return pointWord
	case unicode.IsUpper(here) && !unicode.IsUpper(before):
		return pointWord
	}
	return 0
}
