package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/store"
)

// The values of --by.
const (
	byDay     = "day"
	byModel   = "model"
	byAgent   = "agent"
	bySession = "session"
)

// totals is the number of replies and their usage.
type totals struct {
	Replies int `json:"replies"`
	pawl.Usage
}

func (s *totals) add(replies int, u pawl.Usage) {
	s.Replies += replies
	s.Usage = s.Add(u)
}

// read returns the number of input tokens, cached or not.
func (s totals) read() int64 { return s.Input + s.CacheRead + s.CacheWrite }

// row is the usage of one day, model, agent or session.
type row struct {
	Key    string         `json:"key"` // the day, model, agent or session
	Parent pawl.SessionID `json:"parent,omitempty"`
	totals
	name   string // of a session, for the chart
	short  string // ID of a session, for the chart; subagents have none, because only whole IDs name them
	others bool   // the sum of the groups above the limit
}

// stats is the usage in total and by group.
type stats struct {
	Since     string          `json:"since,omitempty"` // first day; "" means no limit
	Until     string          `json:"until"`
	By        string          `json:"by"`
	Total     totals          `json:"total"`
	Subagents totals          `json:"subagents"` // share of subagents in Total
	Groups    []row           `json:"groups"`
	Rows      []pawl.UsageRow `json:"rows"`
	now       time.Time
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
			s.Subagents.add(r.Replies, r.Usage)
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

// weight returns the value that orders groups and scales bars: the cost or, if no costs are known,
// the number of tokens.
func (s *stats) weight(x totals) int64 {
	if s.Total.Cost > 0 {
		return int64(x.Cost)
	}
	return x.read() + x.Output
}

// sort sorts days by date, newest first, and other groups by weight. Subagents follow the session
// that started them.
func (s *stats) sort() {
	switch s.By {
	case byDay:
		slices.SortFunc(s.Groups, func(a, b row) int { return cmp.Compare(b.Key, a.Key) })
	case bySession:
		s.sortSessions()
	default:
		slices.SortFunc(s.Groups, s.heavierFirst)
	}
}

func (s *stats) heavierFirst(a, b row) int {
	return cmp.Or(cmp.Compare(s.weight(b.totals), s.weight(a.totals)), cmp.Compare(a.Key, b.Key))
}

func (s *stats) sortSessions() {
	parents := map[string]string{}
	for _, g := range s.Groups {
		parents[g.Key] = string(g.Parent)
	}
	root := func(key string) string {
		for range parents { // bounded, because parents in an imported log may form a cycle
			if parents[key] == "" {
				break
			}
			key = parents[key]
		}
		return key
	}
	trees := map[string]*row{}
	for _, g := range s.Groups {
		key := root(g.Key)
		if trees[key] == nil {
			trees[key] = &row{Key: key}
		}
		trees[key].add(g.Replies, g.Usage)
	}
	for key := range trees {
		if _, ok := parents[key]; !ok { // a parent without usage of its own
			s.Groups = append(s.Groups, row{Key: key})
		}
	}
	slices.SortFunc(s.Groups, func(a, b row) int {
		rootA, rootB := root(a.Key), root(b.Key)
		if rootA != rootB {
			return s.heavierFirst(*trees[rootA], *trees[rootB])
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

// maxGroups is the maximum number of groups in a chart.
const maxGroups = 31

// bound combines the groups above the limit into one.
func (s *stats) bound() {
	if len(s.Groups) <= maxGroups {
		return
	}
	rest := s.Groups[maxGroups-1:]
	others := row{Key: humanize.Plural(len(rest), "other"), others: true}
	for _, g := range rest {
		others.add(g.Replies, g.Usage)
	}
	s.Groups = append(slices.Clone(s.Groups[:maxGroups-1]), others)
}

// days returns the weights of the last n days, but not of days before Since, and the first of these
// days.
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
