package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
)

type chatRequest struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chat) read(_ *http.Request, body []byte) (request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, err
	}
	req := request{model: in.Model, stream: in.Stream, field: "messages"}
	if in.StreamOptions != nil {
		if !in.Stream {
			return req, errors.New("stream_options: it is only allowed when stream is true")
		}
		req.includeUsage = in.StreamOptions.IncludeUsage
	}
	for i, t := range in.Tools {
		if t.Type != "function" {
			return req, fmt.Errorf("tools.%d.type: want function, got %q", i, t.Type)
		}
		req.tools = append(req.tools, tool{t.Function.Name, t.Function.Parameters})
	}
	for i, m := range in.Messages {
		if err := req.addChat(i, m); err != nil {
			return req, fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return req, nil
}

// mistral matches models that only accept an assistant message after a result.
var mistral = regexp.MustCompile(`(?i)[sx]tral`)

func (r *request) addChat(i int, m chatMessage) error {
	switch m.Role {
	case "system", "developer":
		return nil
	case "user":
		parts, err := contentParts(m.Content, chatPart)
		if err != nil {
			return err
		}
		if n := len(r.messages); mistral.MatchString(r.model) && n > 0 && r.messages[n-1].Role == pawl.RoleTool {
			return errors.New("unexpected role 'user' after role 'tool'")
		}
		r.add(i, pawl.RoleUser, parts...)
	case "tool":
		if _, err := contentParts(m.Content, chatResultPart); err != nil {
			return err
		}
		r.add(i, pawl.RoleTool, pawl.ToolResult{Call: pawl.CallID(m.ToolCallID), Content: textOf(m.Content)})
	case "assistant":
		var parts pawl.Parts
		if text := textOf(m.Content); strings.TrimSpace(text) != "" || len(m.ToolCalls) == 0 {
			parts = append(parts, pawl.Text{Text: text})
		}
		for _, c := range m.ToolCalls {
			if c.Type != "function" {
				return fmt.Errorf("tool_calls: type: want function, got %q", c.Type)
			}
			parts = append(parts, pawl.ToolCall{ID: pawl.CallID(c.ID), Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
		}
		r.messages = append(r.messages, pawl.Message{Seq: pawl.Seq(i), Role: pawl.RoleAssistant, Parts: parts})
	default:
		return fmt.Errorf("role: want system, developer, user, assistant or tool, got %q", m.Role)
	}
	return nil
}

// add adds a message, or its parts to the last one if both are results, because these protocols send each
// result separately.
func (r *request) add(i int, role pawl.Role, parts ...pawl.Part) {
	if n := len(r.messages); n > 0 && role == pawl.RoleTool && r.messages[n-1].Role == role {
		r.messages[n-1].Parts = append(r.messages[n-1].Parts, parts...)
		return
	}
	r.messages = append(r.messages, pawl.Message{Seq: pawl.Seq(i), Role: role, Parts: parts})
}
