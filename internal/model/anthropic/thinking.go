package anthropic

import "github.com/pawl-dev/pawl/internal/model"

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

// think asks for thinking where the request has an effort and the protocol
// permits it: not with a forced call, not before a prefill.
func (c *Client) think(r *request, req model.Request) {
	budget := min(budgets[req.Effort], r.MaxTokens/2)
	switch {
	case budgets[req.Effort] == 0, r.ToolChoice != nil:
	case c.Adaptive:
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
