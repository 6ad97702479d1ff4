package openaichat

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// name prefixes the signatures of this protocol; see protocol.Seal.
const name = "chat"

// request is the body of a request. The messages come last: everything before them is the same in every request
// of a session, for the prompt cache.
type request struct {
	Model               string          `json:"model"`
	Stream              bool            `json:"stream"`
	StreamOptions       streamOptions   `json:"stream_options"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	TopP                *float64        `json:"top_p,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	Reasoning           *effort         `json:"reasoning,omitempty"`
	Thinking            *typed          `json:"thinking,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	ParallelCalls       bool            `json:"parallel_tool_calls,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	Messages            []message       `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type effort struct {
	Effort string `json:"effort"`
}

type typed struct {
	Type string `json:"type"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// message is a message of the conversation; its role determines which fields are set.
type message struct {
	Role             string            `json:"role"`
	Content          any               `json:"content"` // a string, []part, or nil
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	Reasoning        string            `json:"reasoning,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []toolCall        `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	Cache            *typed            `json:"cache_control,omitempty"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *document `json:"file,omitempty"`
	Cache    *typed    `json:"cache_control,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type document struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledObject `json:"function"`
}

type calledObject struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (c *Client) build(req model.Request) request {
	r := request{Model: c.Model, Stream: true, StreamOptions: streamOptions{IncludeUsage: true}}
	if c.Dialect.MaxCompletionTokens {
		r.MaxCompletionTokens = req.MaxTokens
	} else {
		r.MaxTokens = req.MaxTokens
	}
	if req.Effort != "" {
		r.ask(c.Dialect.Effort, req.Effort)
	}
	if !c.Reasons && req.Effort == "" {
		r.Temperature, r.TopP = req.Temperature, req.TopP
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	r.ParallelCalls = c.Dialect.ParallelCalls && len(r.Tools) > 0

	w := writer{
		dialect: c.Dialect,
		marked:  c.Dialect.Marked != "" && strings.HasPrefix(c.Model, c.Dialect.Marked),
		strict:  strictModels.MatchString(c.Model),
	}
	w.system(req.System)
	for _, m := range req.Messages {
		w.message(m)
	}
	if w.marked {
		w.mark()
	}
	if req.Schema != nil {
		r.ResponseFormat = c.Dialect.Schema.format(req.Schema)
		if c.Dialect.Schema == SchemaInPrompt {
			w.add(message{Role: "user", Content: w.text("Answer with JSON of this schema and nothing else:\n" + string(req.Schema))})
		}
	}
	if prefill := strings.TrimRight(req.Prefill, " \t\n"); prefill != "" && c.Dialect.Prefill {
		w.add(message{Role: "assistant", Content: prefill})
	}
	r.Messages = w.out
	return r
}

// ask requests an effort in the way of the dialect.
func (r *request) ask(way Effort, much string) {
	switch way {
	case EffortField:
		r.ReasoningEffort = much
	case EffortReasoning:
		r.Reasoning = &effort{much}
	case EffortThinking:
		r.Thinking = &typed{"enabled"}
	}
}

func (s Schema) format(schema json.RawMessage) *responseFormat {
	if s == SchemaInPrompt {
		return &responseFormat{Type: "json_object"}
	}
	return &responseFormat{"json_schema", &jsonSchema{Name: "answer", Strict: s == SchemaStrict, Schema: schema}}
}

// dataURL returns the content of a file as a data URL.
func dataURL(f pawl.File) string {
	return "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
}
