package store

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// Day is the date under which usage at that time is counted.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// maxUsageName bounds a model's or agent's name in a UsageRow, in bytes: they
// are part of a key, which PostgreSQL bounds.
const maxUsageName = 500

// UsageOf returns what the replies among the events consumed, a row for each
// session, day, model and agent, in the order in which they first occur. Parent
// is not set: a part of a log does not tell it.
func UsageOf(events []pawl.Event) []pawl.UsageRow {
	var rows []pawl.UsageRow
	for _, e := range events[copiedIn(events):] {
		spent, agent := e.ModelUsage()
		if spent.Model == "" && spent.Usage == (pawl.Usage{}) {
			if _, replied := e.Body.(pawl.Replied); !replied {
				continue
			}
		}
		row := pawl.UsageRow{Session: e.Session, Day: Day(e.At), Model: cutText(spent.Model, maxUsageName), Agent: cutText(agent, maxUsageName)}
		i := slices.IndexFunc(rows, func(r pawl.UsageRow) bool {
			return r.Session == row.Session && r.Day == row.Day && r.Model == row.Model && r.Agent == row.Agent
		})
		if i < 0 {
			i = len(rows)
			rows = append(rows, row)
		}
		rows[i].Replies++
		rows[i].Usage = rows[i].Add(spent.Usage)
	}
	return rows
}

// copiedIn returns how many of the events a fork has from its origin, where they
// are counted. It begins with all of them at once.
func copiedIn(events []pawl.Event) int {
	if len(events) == 0 {
		return 0
	}
	created, ok := events[0].Body.(pawl.SessionCreated)
	if !ok || created.Forked == nil {
		return 0
	}
	return max(0, min(int(created.Forked.At)-1, len(events)))
}
