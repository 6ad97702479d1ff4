package responses

import (
	"encoding/base64"
	"encoding/json"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

type message struct {
	Type    string    `json:"type"`
	Role    pawl.Role `json:"role"`
	Content []content `json:"content"`
}

// content is a part of a message; its type determines which fields are set.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
}

type call struct {
	Type      string      `json:"type"`
	CallID    pawl.CallID `json:"call_id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
}

type output struct {
	Type   string      `json:"type"`
	CallID pawl.CallID `json:"call_id"`
	Output any         `json:"output"` // a string, or []content if it has files
}

// reasoning is a reasoning item as the provider sent it, stored in a signature.
type reasoning struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// items converts the conversation to a flat list. The items of a message depend only on the message, so that a
// longer conversation only appends.
func items(conversation []pawl.Message) []any {
	list := []any{}
	for _, m := range conversation {
		list = append(list, itemsOf(m)...)
	}
	return list
}

// itemsOf converts one message. Adjacent texts and files become one item. Reasoning is only sent with what it
// led to: the API rejects reasoning that nothing follows, as in an interrupted reply.
func itemsOf(m pawl.Message) []any {
	role, text := m.Role, "input_text"
	switch role {
	case pawl.RoleAssistant:
		text = "output_text"
	case pawl.RoleTool:
		role = pawl.RoleUser
	case pawl.RoleUser:
	}
	var list, thoughts []any
	add := func(item any) {
		list = append(append(list, thoughts...), item)
		thoughts = nil
	}
	var open *message
	say := func(c content) {
		if open == nil {
			open = &message{Type: "message", Role: role}
			add(open)
		}
		open.Content = append(open.Content, c)
	}
	for _, part := range m.Parts {
		switch p := part.(type) {
		case pawl.Text:
			if p.Text != "" {
				say(content{Type: text, Text: p.Text})
			}
			continue
		case pawl.File:
			say(fileContent(p))
			continue
		case pawl.Reasoning:
			if own := protocol.Unseal(name, p.Signature); json.Valid([]byte(own)) {
				thoughts = append(thoughts, json.RawMessage(own))
			}
		case pawl.ToolCall:
			add(call{"function_call", p.ID, p.Name, string(protocol.Input(p.Input))})
		case pawl.ToolResult:
			add(output{"function_call_output", p.Call, outputOf(p)})
		case pawl.Patch: // not for the model
			continue
		}
		open = nil
	}
	return list
}

// outputOf returns the content of a result: text, or a list if it has files.
func outputOf(r pawl.ToolResult) any {
	if len(r.Files) == 0 {
		return r.Content
	}
	var list []content
	if r.Content != "" {
		list = append(list, content{Type: "input_text", Text: r.Content})
	}
	for _, f := range r.Files {
		list = append(list, fileContent(f))
	}
	return list
}

func fileContent(f pawl.File) content {
	url := "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
	if f.MediaType == protocol.PDF {
		return content{Type: "input_file", Filename: f.Name, FileData: url}
	}
	return content{Type: "input_image", ImageURL: url}
}
