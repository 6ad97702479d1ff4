package responses

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/model"
)

// name prefixes the signatures of this protocol; see protocol.Seal.
const name = "responses"

// request is the body of a request. The input comes last: everything before it is the same in every request of
// a session, for the prompt cache.
type request struct {
	Model           string        `json:"model"`
	Stream          bool          `json:"stream"`
	Store           bool          `json:"store"` // false: the provider stores nothing
	Include         []string      `json:"include,omitempty"`
	Reasoning       *effort       `json:"reasoning,omitempty"`
	Text            *textSettings `json:"text,omitempty"`
	MaxOutputTokens int           `json:"max_output_tokens,omitempty"`
	Temperature     *float64      `json:"temperature,omitempty"`
	TopP            *float64      `json:"top_p,omitempty"`
	CacheKey        string        `json:"prompt_cache_key,omitempty"`
	Instructions    string        `json:"instructions,omitempty"`
	ParallelCalls   bool          `json:"parallel_tool_calls,omitempty"`
	Tools           []tool        `json:"tools,omitempty"`
	Input           []any         `json:"input"` // message, call, output, or an unchanged reasoning item
}

type effort struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type textSettings struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      bool            `json:"strict"` // the API's default is true
	Parameters  json.RawMessage `json:"parameters"`
}

func (c *Client) build(req model.Request) request {
	r := request{
		Model:           c.Model,
		Stream:          true,
		MaxOutputTokens: req.MaxTokens,
		CacheKey:        string(req.Session),
		Instructions:    req.System,
		ParallelCalls:   len(req.Tools) > 0,
		Input:           items(req.Messages),
	}
	if c.NoReasoning { // reasoning models reject them
		r.Temperature, r.TopP = req.Temperature, req.TopP
	} else {
		r.Include = []string{"reasoning.encrypted_content"}
		if req.Effort != "" {
			r.Reasoning = &effort{req.Effort, "auto"}
		}
	}
	if req.Schema != nil {
		r.Text = &textSettings{format{Type: "json_schema", Name: "answer", Strict: strict(req.Schema), Schema: req.Schema}}
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Strict: strict(t.Schema), Parameters: t.Schema})
	}
	return r
}
