package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl"
)

type messagesRequest struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	Thinking  struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Tools []struct {
		Type   string          `json:"type"` // set for the provider's own tools
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    *messagesSource `json:"source"`
}

func (messages) read(r *http.Request, body []byte) (request, error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, err
	}
	req := request{model: in.Model, stream: in.Stream, field: "messages", signed: in.Thinking.Type == "enabled" || in.Thinking.Type == "adaptive"}
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return req, errors.New("anthropic-version: header is required")
	case in.MaxTokens == 0:
		return req, errors.New("max_tokens: Field required")
	case in.MaxTokens < 0:
		return req, errors.New("max_tokens: Input should be greater than or equal to 1")
	case in.Thinking.Type == "enabled" && in.Thinking.Budget < 1024:
		return req, errors.New("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case in.Thinking.Type == "enabled" && in.Thinking.Budget >= in.MaxTokens:
		return req, errors.New("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	for _, t := range in.Tools {
		if t.Type == "" || t.Type == "custom" {
			req.tools = append(req.tools, tool{t.Name, t.Schema})
		}
	}
	for i, m := range in.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return req, fmt.Errorf("messages.%d.role: Input should be 'user' or 'assistant', got %q", i, m.Role)
		}
		parts, err := messagesParts(m.Role, m.Content)
		if err != nil {
			return req, fmt.Errorf("messages.%d.%w", i, err)
		}
		req.messages = append(req.messages, pawl.Message{Seq: pawl.Seq(i), Role: pawl.Role(m.Role), Parts: parts})
	}
	if n := len(in.Messages); n > 0 && in.Messages[n-1].Role == "assistant" {
		if text := req.messages[n-1].Text(); text != strings.TrimRight(text, " \t\n") {
			return req, errors.New("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return req, nil
}

// messagesParts parses the content of a message: a text or a list of blocks.
func messagesParts(role string, content json.RawMessage) (pawl.Parts, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return pawl.Parts{pawl.Text{Text: text}}, nil
	}
	var blocks []messagesBlock
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, fmt.Errorf("content: want a string or a list of blocks, got %.100q", content)
	}
	var parts pawl.Parts
	for i, b := range blocks {
		part, err := b.part(role)
		if err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
		if _, ok := part.(pawl.ToolResult); ok && i > 0 && blocks[i-1].Type != "tool_result" {
			return nil, fmt.Errorf("content.%d: tool_result blocks must come first in their message", i)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (b messagesBlock) part(role string) (pawl.Part, error) {
	owner := "user"
	var part pawl.Part
	switch b.Type {
	case "text":
		return pawl.Text{Text: b.Text}, nil
	case "image", "document":
		if err := b.Source.check(b.Type); err != nil {
			return nil, err
		}
		part = pawl.File{}
	case "tool_result":
		content, err := messagesResult(b.Content, b.IsError)
		if err != nil {
			return nil, err
		}
		part = pawl.ToolResult{Call: pawl.CallID(b.ToolUseID), Content: content, IsError: b.IsError}
	case "tool_use":
		owner, part = "assistant", pawl.ToolCall{ID: pawl.CallID(b.ID), Name: b.Name, Input: b.Input}
	case "thinking":
		if b.Signature == "" {
			return nil, errors.New("thinking.signature: Field required")
		}
		owner, part = "assistant", pawl.Reasoning{Text: b.Thinking, Signature: b.Signature}
	case "redacted_thinking":
		owner, part = "assistant", pawl.Reasoning{}
	case "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result":
		owner, part = "assistant", pawl.File{} // the provider's own tools
	default:
		return nil, fmt.Errorf("type: unknown block type %q", b.Type)
	}
	if role != owner {
		return nil, fmt.Errorf("%s blocks can only be in %s messages", b.Type, owner)
	}
	return part, nil
}

// textOf joins the texts of a content: a string, or a list of objects with a text.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &list) != nil {
		return ""
	}
	var texts []string
	for _, p := range list {
		if p.Text != "" { // others are files
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
