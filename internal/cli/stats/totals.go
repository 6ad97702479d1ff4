package stats

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// What a line of statistics stands for.
const (
	byDay     = "day"
	byModel   = "model"
	byAgent   = "agent"
	bySession = "session"
)

// totals is what some replies consumed.
type totals struct {
	Replies int `json:"replies"`
	pawl.Usage
}

func (s *totals) add(replies int, u pawl.Usage) {
	s.Replies += replies
	s.Usage = s.Add(u)
}

// read is all that the models read, at whatever price.
func (s totals) read() int64 { return s.Input + s.CacheRead + s.CacheWrite }

// row is a line of statistics.
type row struct {
	Key    string         `json:"key"` // the day, model, agent or session
	Parent pawl.SessionID `json:"parent,omitempty"`
	totals
	name   string // of a session, for people
	others bool   // the lines that were too many
}

// stats are the sums over rows of usage.
type stats struct {
	Since    string          `json:"since,omitempty"` // the first day that counts
	Until    string          `json:"until"`
	By       string          `json:"by"`
	Total    totals          `json:"total"`
	Children totals          `json:"children"` // their part of the total
	Groups   []row           `json:"groups"`
	Rows     []pawl.UsageRow `json:"rows"`
	now      time.Time
}

func newStats(rows []pawl.UsageRow, by string, f pawl.UsageFilter, now time.Time) stats {
	s := stats{Until: store.Day(now), By: by, Rows: append([]pawl.UsageRow{}, rows...), Groups: []row{}, now: now.UTC()}
	if !f.Since.IsZero() {
		s.Since = store.Day(f.Since)
	}
	at := map[string]int{}
	for _, r := range rows {
		s.Total.add(r.Replies, r.Usage)
		if r.Parent != "" && r.Session != f.Session {
			s.Children.add(r.Replies, r.Usage)
		}
		key := map[string]string{byDay: r.Day, byModel: r.Model, byAgent: r.Agent, bySession: string(r.Session)}[by]
		i, ok := at[key]
		if !ok {
			i, at[key] = len(s.Groups), len(s.Groups)
			s.Groups = append(s.Groups, row{Key: key})
			if by == bySession {
				s.Groups[i].Parent = r.Parent
			}
		}
		s.Groups[i].add(r.Replies, r.Usage)
	}
	s.sort()
	return s
}

// weight is what lines are ordered and drawn by: the cost or, where none is
// known, the tokens.
func (s *stats) weight(x totals) int64 {
	if s.Total.Cost > 0 {
		return int64(x.Cost)
	}
	return x.read() + x.Output
}

// sort puts the newest day first, or the heaviest line. Children follow the
// session that they belong to.
func (s *stats) sort() {
	switch s.By {
	case byDay:
		slices.SortFunc(s.Groups, func(a, b row) int { return cmp.Compare(b.Key, a.Key) })
	case bySession:
		s.sortFamilies()
	default:
		slices.SortFunc(s.Groups, s.heavierFirst)
	}
}

func (s *stats) heavierFirst(a, b row) int {
	return cmp.Or(cmp.Compare(s.weight(b.totals), s.weight(a.totals)), cmp.Compare(a.Key, b.Key))
}

func (s *stats) sortFamilies() {
	parents := map[string]string{}
	for _, g := range s.Groups {
		parents[g.Key] = string(g.Parent)
	}
	root := func(key string) string {
		for range parents { // a bound: nothing keeps a log from elsewhere from naming parents in a circle
			if parents[key] == "" {
				break
			}
			key = parents[key]
		}
		return key
	}
	families := map[string]*row{}
	for _, g := range s.Groups {
		key := root(g.Key)
		if families[key] == nil {
			families[key] = &row{Key: key}
		}
		families[key].add(g.Replies, g.Usage)
	}
	for key := range families {
		if _, ok := parents[key]; !ok { // it has no usage itself
			s.Groups = append(s.Groups, row{Key: key})
		}
	}
	slices.SortFunc(s.Groups, func(a, b row) int {
		rootA, rootB := root(a.Key), root(b.Key)
		if rootA != rootB {
			return s.heavierFirst(*families[rootA], *families[rootB])
		}
		switch rootA {
		case a.Key:
			return -1
		case b.Key:
			return 1
		default:
			return s.heavierFirst(a, b)
		}
	})
}

// maxGroups bounds the lines of a chart.
const maxGroups = 31

// bound puts the lines that are too many into one.
func (s *stats) bound() {
	if len(s.Groups) <= maxGroups {
		return
	}
	rest := s.Groups[maxGroups-1:]
	others := row{Key: fmt.Sprintf("%d others", len(rest)), others: true}
	for _, g := range rest {
		others.add(g.Replies, g.Usage)
	}
	s.Groups = append(slices.Clone(s.Groups[:maxGroups-1]), others)
}

// days returns the weights of the last n days up to Until, or of those since Since.
func (s *stats) days(n int) (from string, weights []int64) {
	sums := map[string]*totals{}
	for _, r := range s.Rows {
		if sums[r.Day] == nil {
			sums[r.Day] = &totals{}
		}
		sums[r.Day].add(r.Replies, r.Usage)
	}
	for i := range n {
		day := store.Day(s.now.AddDate(0, 0, -i))
		if day < s.Since {
			break
		}
		from = day
		var x totals
		if sums[day] != nil {
			x = *sums[day]
		}
		weights = append(weights, s.weight(x))
	}
	slices.Reverse(weights)
	return from, weights
}
