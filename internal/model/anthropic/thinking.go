package anthropic

import "github.com/pawl-dev/pawl/internal/model"

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"` // recent models hide their thinking by default
}

type config struct {
	Effort string `json:"effort"`
}

// budgets are the thinking tokens for each effort of models without adaptive thinking.
var budgets = map[string]int{"low": 2048, "medium": 8192, "high": 24576}

// minBudget is the minimum of the API.
const minBudget = 1024

// think enables thinking if the request has an effort and the API allows it: not with a forced call, and not
// with a prefill.
func (c *Client) think(r *request, req model.Request) {
	budget := min(budgets[req.Effort], r.MaxTokens/2)
	switch {
	case req.Effort == "", r.ToolChoice != nil:
	case c.Adaptive:
		r.Thinking, r.Config = &thinking{Type: "adaptive", Display: "summarized"}, &config{req.Effort}
	case req.Prefill != "", budget < minBudget, inThoughtlessTurn(r.Messages):
	default:
		r.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
}

// inThoughtlessTurn reports whether the turn continues calls that another model made without thinking: the API
// requires that such a turn ends without thinking.
func inThoughtlessTurn(list []message) bool {
	first := len(list) // the first reply of the turn
	for n := len(list) - 1; n > 0 && list[n].Content[0].Type == "tool_result"; n -= 2 {
		first = n - 1
	}
	if first == len(list) {
		return false
	}
	kind := list[first].Content[0].Type
	return kind != "thinking" && kind != "redacted_thinking"
}
