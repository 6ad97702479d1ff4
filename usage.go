package pawl

import (
	"slices"
	"time"
)

// Money is an amount in billionths of a US dollar, so that sums stay exact.
type Money int64

// MoneyOf returns an amount of dollars.
func MoneyOf(dollars float64) Money { return Money(dollars * 1e9) }

// Dollars returns the amount for display.
func (m Money) Dollars() float64 { return float64(m) / 1e9 }

// Usage is what a model call consumed, by the provider's own count.
// The zero value is no usage.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read at the full price
	Output     int64 `json:"output,omitempty"`      // tokens written, reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // the part of Output that was reasoning
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens written to the provider's cache
	Cost       Money `json:"cost,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Cost:       u.Cost + v.Cost,
	}
}

// Tokens is how many were read and written.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// UsageRow is what a session's replies of one day, by one model for one agent,
// consumed: a projection of the log, written in the same transaction.
type UsageRow struct {
	Session SessionID `json:"session"`
	Parent  SessionID `json:"parent,omitempty"`
	Day     string    `json:"day"` // the UTC date of the replies, YYYY-MM-DD
	Model   string    `json:"model"`
	Agent   string    `json:"agent,omitempty"`
	Replies int       `json:"replies"`
	Usage
}

// UsageFilter picks usage. The zero value picks all of it. A session that is
// picked brings those below it, its subagents and theirs, wherever they work.
type UsageFilter struct {
	Since   time.Time // from this time's UTC date on; zero means no bound
	Session SessionID // this session
	Dir     string    // the sessions of this workspace
	Owner   *User     // of this user's sessions only, wherever they are; nil means any
}

// Day is the date under which usage at that time is counted.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// maxUsageName bounds a model's or agent's name in a UsageRow, in bytes: they
// are part of a key, which PostgreSQL bounds.
const maxUsageName = 500

// UsageOf returns what the replies among the events consumed, a row for each
// session, day, model and agent, in the order in which they first occur. Parent
// is not set: a part of a log does not tell it.
func UsageOf(events []Event) []UsageRow {
	var rows []UsageRow
	for _, e := range events[copiedIn(events):] {
		spent, agent := spending(e.Body)
		if spent.Model == "" && spent.Usage == (Usage{}) {
			if _, replied := e.Body.(Replied); !replied {
				continue
			}
		}
		row := UsageRow{Session: e.Session, Day: Day(e.At), Model: cutText(spent.Model, maxUsageName), Agent: cutText(agent, maxUsageName)}
		i := slices.IndexFunc(rows, func(r UsageRow) bool {
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
func copiedIn(events []Event) int {
	if len(events) == 0 {
		return 0
	}
	created, ok := events[0].Body.(SessionCreated)
	if !ok || created.Forked == nil {
		return 0
	}
	return max(0, min(int(created.Forked.At)-1, len(events)))
}

// The agents that write beside the conversation.
const (
	AgentTitle      = "title"
	AgentSummary    = "summary"
	AgentCompaction = "compaction"
)

// spending returns the model call behind a body, and the agent it was made for.
func spending(b Body) (spent ModelUsage, agent string) {
	switch b := b.(type) {
	case Replied:
		return ModelUsage{b.Model, b.Usage}, b.Agent
	case SessionTitled:
		return b.ModelUsage, AgentTitle
	case SessionSummarized:
		return b.ModelUsage, AgentSummary
	case Compacted:
		return b.ModelUsage, AgentCompaction
	default:
		return ModelUsage{}, ""
	}
}
