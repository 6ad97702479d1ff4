package stats

import (
	"cmp"
	"slices"

	"github.com/pawl-dev/pawl"
)

// sum is the usage of some replies.
type sum struct {
	key     string // the day or the model
	replies int
	pawl.Usage
}

func (s *sum) add(r pawl.UsageRow) {
	s.replies += r.Replies
	s.Usage = s.Add(r.Usage)
}

// read returns all input tokens, cached or not.
func (s sum) read() int64 { return s.Input + s.CacheRead + s.CacheWrite }

// cached returns how many percent of them came from a cache.
func (s sum) cached() int64 {
	if s.read() == 0 {
		return 0
	}
	return 100 * s.CacheRead / s.read()
}

// totals are the sums over rows of usage.
type totals struct {
	all    sum
	days   []sum // newest first
	models []sum // most expensive first
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

// weight is what the bars show: the cost or, if that is unknown, the tokens.
func (t totals) weight(s sum) int64 {
	if t.all.Cost > 0 {
		return int64(s.Cost)
	}
	return s.Tokens()
}

// by sums rows by a key, in the order of the keys.
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
