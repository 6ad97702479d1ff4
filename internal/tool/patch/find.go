package patch

import "slices"

// finder looks for the lines of hunks in a file.
type finder struct {
	text   *text
	hunks  []Hunk
	levels [levels]index
}

// index numbers the lines that are looked for, so that the file is compared
// line by line once a level and not once a hunk.
type index struct {
	number map[string]int // of a line of the patch, as the level sees it
	lines  []int32        // the number of each line of the file, -1 for others
	where  [][]int32      // the lines of the file that have a number
}

func newFinder(t *text, hunks []Hunk) *finder { return &finder{text: t, hunks: hunks} }

func (f *finder) index(l level) *index {
	x := &f.levels[l]
	if x.number != nil {
		return x
	}
	x.number = map[string]int{}
	want := func(line string) {
		if _, ok := x.number[l.of(line)]; !ok {
			x.number[l.of(line)] = len(x.number)
		}
	}
	for i := range f.hunks {
		for _, line := range f.hunks[i].old() {
			want(line)
		}
		for _, line := range f.hunks[i].Headers {
			want(line)
		}
	}
	x.where = make([][]int32, len(x.number))
	x.lines = make([]int32, f.text.len())
	for i := range x.lines {
		x.lines[i] = -1
		if n, ok := x.number[l.of(f.text.line(i))]; ok {
			x.lines[i] = int32(n)
			x.where[n] = append(x.where[n], int32(i))
		}
	}
	return x
}

// find returns every line of the file, in order, at which the pattern stands.
// The pattern is some lines of the hunks, at least one.
func (f *finder) find(pattern []string, l level) []int {
	x := f.index(l)
	numbers := make([]int32, len(pattern))
	rare := 0 // the line of the pattern that the file has least often
	for i, line := range pattern {
		n := x.number[l.of(line)]
		numbers[i] = int32(n)
		if len(x.where[n]) < len(x.where[numbers[rare]]) {
			rare = i
		}
	}
	if hits := x.where[numbers[rare]]; len(hits)*len(numbers) <= len(x.lines) {
		var places []int
		for _, hit := range hits {
			start := int(hit) - rare
			if start >= 0 && start+len(numbers) <= len(x.lines) && slices.Equal(x.lines[start:start+len(numbers)], numbers) {
				places = append(places, start)
			}
		}
		return places
	}
	return search(x.lines, numbers)
}

// search returns where a pattern stands in lines. The time it takes is linear in
// both, whatever repeats (Knuth, Morris and Pratt).
func search(lines, pattern []int32) []int {
	back := make([]int, len(pattern)) // the longest proper prefix that is also a suffix, up to here
	for i, k := 1, 0; i < len(pattern); i++ {
		for k > 0 && pattern[i] != pattern[k] {
			k = back[k-1]
		}
		if pattern[i] == pattern[k] {
			k++
		}
		back[i] = k
	}
	var places []int
	k := 0
	for i, n := range lines {
		for k > 0 && n != pattern[k] {
			k = back[k-1]
		}
		if n == pattern[k] {
			k++
		}
		if k == len(pattern) {
			places = append(places, i+1-k)
			k = back[k-1]
		}
	}
	return places
}

// from returns the places that are not before a line.
func from(places []int, line int) []int {
	i, _ := slices.BinarySearch(places, line)
	return places[i:]
}
