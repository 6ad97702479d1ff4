package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

type responsesRequest struct {
	Model   string   `json:"model"`
	Stream  bool     `json:"stream"`
	Include []string `json:"include"`
	Tools   []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Previous string          `json:"previous_response_id"`
	Input    json.RawMessage `json:"input"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

func (responses) read(_ *http.Request, body []byte) (request, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, err
	}
	req := request{model: in.Model, stream: in.Stream, field: "input", encrypted: slices.Contains(in.Include, "reasoning.encrypted_content")}
	if in.Previous != "" {
		return req, errors.New("previous_response_id: this server keeps no responses; send the whole input")
	}
	for i, t := range in.Tools {
		switch t.Type {
		case "function":
			req.tools = append(req.tools, tool{t.Name, t.Parameters})
		case "":
			return req, fmt.Errorf("tools.%d.type: field required", i)
		}
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		req.add(0, pawl.RoleUser, pawl.Text{Text: text})
		return req, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return req, fmt.Errorf("input: want a string or a list of items, got %.100q", in.Input)
	}
	for i, item := range items {
		if err := req.addItem(i, item); err != nil {
			return req, fmt.Errorf("input.%d: %w", i, err)
		}
	}
	return req, nil
}

func (r *request) addItem(i int, item responsesItem) error {
	switch item.Type {
	case "", "message":
		return r.addMessage(i, item)
	case "reasoning":
		if item.Encrypted == "" {
			return fmt.Errorf("item with id %q not found: items are not kept, so reasoning must come with its encrypted_content", item.ID)
		}
		var summary []json.RawMessage
		if json.Unmarshal(item.Summary, &summary) != nil || summary == nil {
			return errors.New("summary: field required")
		}
		r.addReply(i, pawl.Reasoning{Text: textOf(item.Summary), Signature: item.Encrypted})
	case "function_call":
		if item.ID != "" && !strings.HasPrefix(item.ID, "fc") {
			return fmt.Errorf("id %q: want one that begins with 'fc'", item.ID)
		}
		r.addReply(i, pawl.ToolCall{ID: pawl.CallID(item.CallID), Name: item.Name, Input: json.RawMessage(item.Arguments)})
	case "function_call_output":
		if _, err := contentParts(item.Output, responsesPart); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		r.add(i, pawl.RoleTool, pawl.ToolResult{Call: pawl.CallID(item.CallID), Content: textOf(item.Output)})
	default:
		return fmt.Errorf("type: unknown item type %q", item.Type)
	}
	return nil
}

func (r *request) addMessage(i int, item responsesItem) error {
	parts, err := contentParts(item.Content, responsesPart)
	if err != nil {
		return err
	}
	switch item.Role {
	case "system", "developer":
	case "user":
		r.add(i, pawl.RoleUser, parts...)
	case "assistant":
		r.addReply(i, parts...)
	default:
		return fmt.Errorf("role: want system, developer, user or assistant, got %q", item.Role)
	}
	return nil
}

// addReply adds to the current reply, or starts one, because this protocol sends each part of a reply
// separately.
func (r *request) addReply(i int, parts ...pawl.Part) {
	if n := len(r.messages); n > 0 && r.messages[n-1].Role == pawl.RoleAssistant {
		r.messages[n-1].Parts = append(r.messages[n-1].Parts, parts...)
		return
	}
	r.messages = append(r.messages, pawl.Message{Seq: pawl.Seq(i), Role: pawl.RoleAssistant, Parts: parts})
}
