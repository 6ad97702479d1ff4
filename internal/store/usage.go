package store

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// Day returns the UTC date of a time, as UsageRow.Day has it.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// maxUsageName limits the names of models and agents in usage rows, in bytes: they
// are part of a key, whose size PostgreSQL limits.
const maxUsageName = 500

// UsageOf returns the usage of the replies among the events: one row per session,
// day, model and agent, in order of first occurrence. Parent is not set, because a
// part of a log does not contain it.
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

// copiedIn returns the number of events that a fork copied from its origin, where
// their usage is counted. A fork's first batch contains all of them.
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
