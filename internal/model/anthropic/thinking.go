package anthropic

import (
	"regexp"
	"strconv"

	"github.com/pawl-dev/pawl"
)

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"` // the newest models hide their thoughts unless asked
}

type config struct {
	Effort string `json:"effort"`
}

// budgets are the tokens to think with, by effort.
var budgets = map[string]int{"low": 2048, "medium": 8192, "high": 24576}

// minBudget is the least that the provider takes.
const minBudget = 1024

// version finds a model's, as in claude-opus-4-7 or us.anthropic.claude-3-7-sonnet-20250219-v1:0.
var version = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?:\D|$)`)

// adaptive reports whether the model decides itself how much to think, which
// those from 4.6 on do. They take an effort, refuse a budget and a prefill.
func (c *Client) adaptive() bool {
	found := version.FindStringSubmatch(c.Model)
	if found == nil {
		return false
	}
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2]) // 0 where there is none
	return major > 4 || major == 4 && minor >= 6
}

// think asks for thinking where the request has an effort and the protocol
// permits it: not with a forced call, not before a prefill.
func (c *Client) think(r *request, req pawl.Request) {
	budget := min(budgets[req.Effort], r.MaxTokens/2)
	switch {
	case budgets[req.Effort] == 0, r.ToolChoice != nil:
	case c.adaptive():
		r.Thinking, r.Config = &thinking{Type: "adaptive", Display: "summarized"}, &config{req.Effort}
	case req.Prefill != "", budget < minBudget, inThoughtlessTurn(r.Messages):
	default:
		r.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
}

// inThoughtlessTurn reports whether the turn goes on from calls that were made
// without thinking, by another model: a turn that began so must end so.
func inThoughtlessTurn(list []message) bool {
	first := len(list) // the turn's first reply
	for n := len(list) - 1; n > 0 && list[n].Content[0].Type == "tool_result"; n -= 2 {
		first = n - 1
	}
	if first == len(list) {
		return false
	}
	kind := list[first].Content[0].Type
	return kind != "thinking" && kind != "redacted_thinking"
}
