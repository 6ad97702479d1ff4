package pawl

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Role is the author of a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation. Messages are derived from the log and
// never stored. An assistant message with tool calls is followed by a tool message
// with one result per call, in the order of the calls.
type Message struct {
	Seq   Seq   `json:"seq"` // the event that added it
	Role  Role  `json:"role"`
	Parts Parts `json:"parts"`
}

// Text returns the text parts, concatenated.
func (m Message) Text() string { return m.Parts.Text() }

// Part is a part of a message: Text, Reasoning, ToolCall, ToolResult, File, or
// Patch, which only users see.
//
//sumtype:decl
type Part interface{ partType() string }

// Text is plain text.
type Text struct {
	Text string `json:"text"`
}

// Reasoning is the model's thinking. Signature is the provider's signature of it
// and must be sent back unchanged.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
}

// ToolCall is a request by the model to run a tool. Its ID is unique in the
// session. Signature is an opaque value that the provider expects back.
type ToolCall struct {
	ID        CallID          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Signature string          `json:"signature,omitempty"`
}

// ToolResult is the result of the tool call with the same ID.
type ToolResult struct {
	Call    CallID `json:"call"`
	Content string `json:"content"`
	Files   []File `json:"files,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
}

// File is an attachment.
type File struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// Patch is the change of one file, as a unified diff.
type Patch struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

func (Text) partType() string       { return "text" }
func (Reasoning) partType() string  { return "reasoning" }
func (ToolCall) partType() string   { return "tool_call" }
func (ToolResult) partType() string { return "tool_result" }
func (File) partType() string       { return "file" }
func (Patch) partType() string      { return "patch" }

// Parts is a list of parts. In JSON each is an object with a "type" key.
type Parts []Part

// Text returns the text parts, concatenated.
func (p Parts) Text() string {
	var b strings.Builder
	for _, part := range p {
		if t, ok := part.(Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Calls returns the tool calls in order.
func (p Parts) Calls() []ToolCall {
	var calls []ToolCall
	for _, part := range p {
		if c, ok := part.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// MarshalJSON encodes each part with its type as the first key.
func (p Parts) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, part := range p {
		fields, err := strictjson.Encode(part)
		if err != nil {
			return nil, fmt.Errorf("encode %s part: %w", part.partType(), err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"type":"`+part.partType()+`",`...)
		out = append(out, fields[1:]...) // every part has at least one field or is closed by its own brace
		if len(fields) == 2 {
			out = append(out[:len(out)-2], '}')
		}
	}
	return append(out, ']'), nil
}

// UnmarshalJSON decodes the output of MarshalJSON and rejects everything else.
func (p *Parts) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	parts := make(Parts, 0, len(raws))
	for _, raw := range raws {
		part, err := decodePart(raw)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	*p = parts
	return nil
}

var partTypes = map[string]func([]byte) (Part, error){
	"text":        decodePartAs[Text],
	"reasoning":   decodePartAs[Reasoning],
	"tool_call":   decodePartAs[ToolCall],
	"tool_result": decodePartAs[ToolResult],
	"file":        decodePartAs[File],
	"patch":       decodePartAs[Patch],
}

func decodePart(raw []byte) (Part, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("decode part: %w", err)
	}
	decode, ok := partTypes[head.Type]
	if !ok {
		return nil, fmt.Errorf("decode part: unknown type %q", head.Type)
	}
	part, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("decode %s part: %w", head.Type, err)
	}
	return part, nil
}

func decodePartAs[T Part](raw []byte) (Part, error) {
	var part T
	err := strictjson.DecodeTagged(raw, &part, "type")
	return part, err
}
