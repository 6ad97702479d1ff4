package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// name prefixes the signatures of this protocol; see protocol.Seal.
const name = "anthropic"

// request is the body of a Messages request. The messages come last: everything before them is the same in
// every request of a session, for the prompt cache.
type request struct {
	Model       string      `json:"model,omitempty"`
	Version     string      `json:"anthropic_version,omitempty"` // required by Bedrock and Vertex
	MaxTokens   int         `json:"max_tokens"`
	Stream      bool        `json:"stream,omitempty"`
	Temperature *float64    `json:"temperature,omitempty"`
	TopP        *float64    `json:"top_p,omitempty"`
	Thinking    *thinking   `json:"thinking,omitempty"`
	Config      *config     `json:"output_config,omitempty"`
	ToolChoice  *toolChoice `json:"tool_choice,omitempty"`
	System      []block     `json:"system,omitempty"`
	Tools       []tool      `json:"tools,omitempty"`
	Messages    []message   `json:"messages"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

type message struct {
	Role    pawl.Role `json:"role"`
	Content []block   `json:"content"`
}

// block is a content block; its type determines which fields are set.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"` // of a tool result: a string or []block; nil for none
	IsError   bool            `json:"is_error,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Title     string          `json:"title,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cache struct {
	Type string `json:"type"`
}

// ephemeral marks a cache breakpoint. A request may have four: the tools, the system prompt and the last two
// user messages.
var ephemeral = &cache{"ephemeral"}

// answerTool is the tool that a reply with a given schema is forced to call.
const answerTool = "answer"

func (c *Client) build(req model.Request) request {
	r := request{Model: c.Model, MaxTokens: req.MaxTokens, Stream: true}
	if c.Cloud != nil {
		r.Model, r.Version, r.Stream = "", c.Cloud.Version, c.Cloud.Stream
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = c.maxTokens()
	}
	if req.System != "" {
		r.System = []block{{Type: "text", Text: req.System, Cache: ephemeral}}
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if req.Schema != nil {
		r.Tools = append(r.Tools, tool{Name: answerTool, Description: "Gives the answer.", Schema: req.Schema})
		r.ToolChoice = &toolChoice{"tool", answerTool}
	}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = ephemeral
	}
	r.Messages = messages(req.Messages)
	c.think(&r, req)
	c.sample(&r, req)
	markLast(r.Messages)
	if prefill := strings.TrimRight(req.Prefill, " \t\n"); prefill != "" && !c.Adaptive {
		r.Messages = append(r.Messages, message{pawl.RoleAssistant, []block{{Type: "text", Text: prefill}}})
	}
	return r
}

// maxTemperature is the maximum of the API.
const maxTemperature = 1

// sample sets the temperature or top_p where the API allows it: not with thinking, and only one of the two.
func (c *Client) sample(r *request, req model.Request) {
	switch {
	case c.Adaptive, r.Thinking != nil:
	case req.Temperature != nil:
		if *req.Temperature <= maxTemperature {
			r.Temperature = req.Temperature
		}
	default:
		r.TopP = req.TopP
	}
}

// messages converts the conversation to alternating user and assistant messages: results and prompts are both
// user content, and are combined in one message.
func messages(conversation []pawl.Message) []message {
	var out []message
	for _, m := range conversation {
		role := m.Role
		if role == pawl.RoleTool {
			role = pawl.RoleUser
		}
		content := blocks(append(slices.Clip(m.Parts), besideFailures(m.Parts)...))
		switch n := len(out); {
		case len(content) == 0:
		case n > 0 && out[n-1].Role == role:
			out[n-1].Content = append(out[n-1].Content, content...)
		default:
			out = append(out, message{role, content})
		}
	}
	return out
}

// blocks converts parts to blocks, without those that the provider must not see.
func blocks(parts pawl.Parts) []block {
	var list []block
	for _, p := range parts {
		if b, ok := blockOf(p); ok {
			list = append(list, b)
		}
	}
	return list
}

// besideFailures returns the files of failed results: the API only accepts text in a failure.
func besideFailures(parts pawl.Parts) pawl.Parts {
	results := protocol.Results(parts)
	for i := range results {
		if !results[i].IsError {
			results[i].Files = nil
		}
	}
	return protocol.Beside(results)
}

// blockOf converts a part to a block; false if the provider must not see it.
func blockOf(part pawl.Part) (block, bool) {
	switch p := part.(type) {
	case pawl.Text:
		return block{Type: "text", Text: p.Text}, strings.TrimSpace(p.Text) != ""
	case pawl.Reasoning:
		signature := protocol.Unseal(name, p.Signature)
		if data, ok := strings.CutPrefix(signature, redactedPrefix); ok {
			return block{Type: "redacted_thinking", Data: data}, true
		}
		return block{Type: "thinking", Thinking: &p.Text, Signature: signature}, signature != ""
	case pawl.ToolCall:
		return block{Type: "tool_use", ID: string(p.ID), Name: p.Name, Input: protocol.Input(p.Input)}, true
	case pawl.ToolResult:
		return block{Type: "tool_result", ToolUseID: string(p.Call), Content: resultContent(p), IsError: p.IsError}, true
	case pawl.File:
		return fileBlock(p), true
	case pawl.Patch:
	}
	return block{}, false
}

// resultContent returns the content of a result. Blank text is left out, because the API rejects it in a list.
func resultContent(r pawl.ToolResult) any {
	if r.IsError || len(r.Files) == 0 {
		if r.Content == "" {
			return nil
		}
		return r.Content
	}
	parts := pawl.Parts{pawl.Text{Text: r.Content}}
	for _, f := range r.Files {
		parts = append(parts, f)
	}
	return blocks(parts)
}

func fileBlock(f pawl.File) block {
	src := &source{"base64", f.MediaType, base64.StdEncoding.EncodeToString(f.Data)}
	if f.MediaType == protocol.PDF {
		return block{Type: "document", Source: src, Title: f.Name}
	}
	return block{Type: "image", Source: src}
}

// markLast marks the last two user messages as cache breakpoints: the next request uses the later one, and a
// retry the earlier one.
func markLast(list []message) {
	marks := 2
	for i := len(list) - 1; i >= 0 && marks > 0; i-- {
		if list[i].Role == pawl.RoleUser {
			content := list[i].Content
			content[len(content)-1].Cache = ephemeral
			marks--
		}
	}
}
