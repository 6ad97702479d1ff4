package pawl

import (
	"time"
)

// Money is an amount in billionths of a US dollar, so that sums are exact.
type Money int64

// MoneyOf converts from US dollars.
func MoneyOf(dollars float64) Money { return Money(dollars * 1e9) }

// Dollars converts to US dollars, for display.
func (m Money) Dollars() float64 { return float64(m) / 1e9 }

// Usage is what model calls consumed, as reported by the provider.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // input tokens at the full price
	Output     int64 `json:"output,omitempty"`      // output tokens, including reasoning
	Reasoning  int64 `json:"reasoning,omitempty"`   // the part of Output that was reasoning
	CacheRead  int64 `json:"cache_read,omitempty"`  // input tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // input tokens written to the provider's cache
	Cost       Money `json:"cost,omitempty"`
}

// Add returns the sum.
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

// Tokens returns the total number of input and output tokens.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// UsageRow is the usage of a session on one day, by one model for one agent.
type UsageRow struct {
	Session SessionID `json:"session"`
	Parent  SessionID `json:"parent,omitempty"`
	Day     string    `json:"day"` // the UTC date of the replies, YYYY-MM-DD
	Model   string    `json:"model"`
	Agent   string    `json:"agent,omitempty"`
	Replies int       `json:"replies"`
	Usage
}

// UsageFilter selects usage. The zero value selects all. A selected session
// includes its subagents, wherever they work.
type UsageFilter struct {
	Since   time.Time // from the UTC date of this time on; zero means no limit
	Session SessionID // only this session
	Dir     string    // only sessions of this working directory
	Owner   *User     // only this user's sessions; nil means any
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
