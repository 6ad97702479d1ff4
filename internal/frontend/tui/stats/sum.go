package stats

import (
	"cmp"
	"slices"

	"github.com/pawl-dev/pawl"
)

// sum is what some replies consumed.
type sum struct {
	key     string // the day or the model
	replies int
	pawl.Usage
}

func (s *sum) add(r pawl.UsageRow) {
	s.replies += r.Replies
	s.Usage = s.Add(r.Usage)
}

// read is all that the models read, at whatever price.
func (s sum) read() int64 { return s.Input + s.CacheRead + s.CacheWrite }

// cached is how many percent of it came from a cache.
func (s sum) cached() int64 {
	if s.read() == 0 {
		return 0
	}
	return 100 * s.CacheRead / s.read()
}

// totals are the sums over rows of usage.
type totals struct {
	all    sum
	days   []sum // the newest first
	models []sum // the heaviest first
}

func totalsOf(rows []pawl.UsageRow) totals {
	var t totals
	for _, r := range rows {
		t.all.add(r)
	}
	t.days = by(rows, func(r pawl.UsageRow) string { return r.Day })
	slices.SortFunc(t.days, func(a, b sum) int { return cmp.Compare(b.key, a.key) })
	t.models = by(rows, func(r pawl.UsageRow) string { return r.Model })
	slices.SortStableFunc(t.models, func(a, b sum) int { return cmp.Compare(t.weight(b), t.weight(a)) })
	return t
}

// weight is what bars are drawn by: the cost or, where none is known, the tokens.
func (t totals) weight(s sum) int64 {
	if t.all.Cost > 0 {
		return int64(s.Cost)
	}
	return s.Tokens()
}

// by sums rows by a key, in the order in which the keys come.
func by(rows []pawl.UsageRow, key func(pawl.UsageRow) string) []sum {
	var sums []sum
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[key(r)]
		if !ok {
			i = len(sums)
			at[key(r)] = i
			sums = append(sums, sum{key: key(r)})
		}
		sums[i].add(r)
	}
	return sums
}
