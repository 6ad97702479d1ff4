package gemini

import (
	"encoding/json"
	"strings"

	"github.com/pawl-dev/pawl/internal/model"
)

// request is the body of a streamGenerateContent request. The contents come last: everything before them is the
// same in every request of a session, for the prompt cache.
type request struct {
	System   *content  `json:"systemInstruction,omitempty"`
	Tools    []tools   `json:"tools,omitempty"`
	Config   *config   `json:"generationConfig,omitempty"`
	Contents []content `json:"contents"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

// function is a tool. Its schema is sent as JSON Schema, because the older "parameters" field rejects keywords
// such as additionalProperties.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type config struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	Temperature     *float64        `json:"temperature,omitempty"`
	TopP            *float64        `json:"topP,omitempty"`
	Thinking        *thinking       `json:"thinkingConfig,omitempty"`
	MimeType        string          `json:"responseMimeType,omitempty"`
	Schema          json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type thinking struct {
	IncludeThoughts bool   `json:"includeThoughts"`
	Budget          int    `json:"thinkingBudget,omitempty"`
	Level           string `json:"thinkingLevel,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is a content part: one of text, call, response and data.
type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Data      *data     `json:"inlineData,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Result result `json:"response"`
	Parts  []part `json:"parts,omitempty"` // files of the result, if the model supports them there
}

type result struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

type data struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// budgets are the thinking tokens for each effort.
var budgets = map[string]int{"low": 2048, "medium": 8192, "high": 24576}

func (c *Client) build(req model.Request) request {
	r := request{Config: c.config(req), Contents: c.contents(req.Messages)}
	if req.System != "" {
		r.System = &content{Parts: []part{{Text: &req.System}}}
	}
	if len(req.Tools) > 0 && req.Schema == nil { // Gemini 2.5 rejects both in one request
		var list []function
		for _, t := range req.Tools {
			list = append(list, function(t))
		}
		r.Tools = []tools{{list}}
	}
	return r
}

func (c *Client) config(req model.Request) *config {
	cfg := config{MaxOutputTokens: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, Schema: req.Schema}
	if cfg.MaxOutputTokens == 0 {
		cfg.MaxOutputTokens = c.Output
	}
	if req.Schema != nil {
		cfg.MimeType = "application/json"
	}
	switch budget := budgets[req.Effort]; {
	case req.Effort == "":
	case c.Levels:
		cfg.Thinking = &thinking{IncludeThoughts: true, Level: strings.ToUpper(req.Effort)}
	case budget == 0:
	case cfg.MaxOutputTokens > 0: // thoughts count as output: leave half for the reply
		cfg.Thinking = &thinking{IncludeThoughts: true, Budget: min(budget, cfg.MaxOutputTokens/2)}
	default:
		cfg.Thinking = &thinking{IncludeThoughts: true, Budget: budget}
	}
	if cfg.MaxOutputTokens == 0 && cfg.Temperature == nil && cfg.TopP == nil && cfg.Thinking == nil && cfg.Schema == nil {
		return nil
	}
	return &cfg
}
