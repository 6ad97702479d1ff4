package pawl

import (
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

// The agents that work beside the conversation; see [Event.ModelUsage].
const (
	agentTitle      = "title"
	agentSummary    = "summary"
	agentCompaction = "compaction"
)

// ModelUsage returns the model call that the event records, and the agent that
// made it. Both are zero for an event that records none.
func (e Event) ModelUsage() (usage ModelUsage, agent string) {
	switch b := e.Body.(type) {
	case Replied:
		return ModelUsage{b.Model, b.Usage}, b.Agent
	case SessionTitled:
		return b.ModelUsage, agentTitle
	case SessionSummarized:
		return b.ModelUsage, agentSummary
	case Compacted:
		return b.ModelUsage, agentCompaction
	default:
		return ModelUsage{}, ""
	}
}
