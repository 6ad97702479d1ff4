package openaichat

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// ephemeral ends a prefix that Anthropic should keep. There may be four in a
// request: the system prompt, which the tools go before, and the last two
// messages of a person's side.
var ephemeral = &typed{"ephemeral"}

// strictModels are Mistral's, whoever serves them: between a result and what the
// user says next they want a word of the assistant's.
var strictModels = regexp.MustCompile(`(?i)[sx]tral`)

const bridge = "I have the results."

// writer writes the conversation. What a message adds depends on nothing that
// comes later, cache marks apart: so a session's requests begin alike.
type writer struct {
	dialect Dialect
	marked  bool // the model wants cache marks: texts are written as parts, which can carry one
	strict  bool // the model refuses a user's message after a result
	beside  bool // the last message holds the files of results: what the user says next joins it
	out     []message
}

func (w *writer) add(m message) {
	if n := len(w.out); w.strict && n > 0 && w.out[n-1].Role == "tool" && m.Role == "user" {
		w.out = append(w.out, message{Role: "assistant", Content: bridge})
	}
	w.out, w.beside = append(w.out, m), false
}

// text returns a message's content that is one text.
func (w *writer) text(s string) any {
	if w.marked {
		return []part{{Type: "text", Text: s}}
	}
	return s
}

func (w *writer) system(prompt string) {
	if prompt == "" {
		return
	}
	role := w.dialect.SystemRole
	if role == "" {
		role = "system"
	}
	m := message{Role: role, Content: w.text(prompt)}
	if w.marked {
		setMark(&m)
	}
	w.add(m)
}

func (w *writer) message(m pawl.Message) {
	switch m.Role {
	case pawl.RoleUser:
		w.user(m.Parts)
	case pawl.RoleAssistant:
		w.assistant(m.Parts)
	case pawl.RoleTool:
		w.results(protocol.Results(m.Parts))
	}
}

// results writes each result, which can be text alone, and then the files of all
// as one message of the user's: nothing may stand between the results.
func (w *writer) results(list []pawl.ToolResult) {
	for _, r := range list {
		w.add(message{Role: "tool", Content: r.Content, ToolCallID: string(r.Call)})
	}
	if files := protocol.Beside(list); files != nil {
		w.add(message{Role: "user", Content: userParts(files)})
		w.beside = true
	}
}

func (w *writer) user(parts pawl.Parts) {
	content := userParts(parts)
	switch {
	case len(content) == 0:
	case w.beside: // some servers refuse two of the user's in a row
		last := &w.out[len(w.out)-1]
		last.Content = append(last.Content.([]part), content...)
	case len(content) == 1 && content[0].Type == "text":
		w.add(message{Role: "user", Content: w.text(content[0].Text)}) // a server without parts takes this
	default:
		w.add(message{Role: "user", Content: content})
	}
}

// userParts returns what a user says and attaches.
func userParts(parts pawl.Parts) []part {
	var content []part
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				content = append(content, part{Type: "text", Text: p.Text})
			}
		case pawl.File:
			content = append(content, filePart(p))
		case pawl.Reasoning, pawl.ToolCall, pawl.ToolResult, pawl.Patch: // not a user's words
		}
	}
	return content
}

func filePart(f pawl.File) part {
	if f.MediaType == protocol.PDF {
		return part{Type: "file", File: &document{f.Name, dataURL(f)}}
	}
	return part{Type: "image_url", ImageURL: &imageURL{dataURL(f)}}
}

func (w *writer) assistant(parts pawl.Parts) {
	m := message{Role: "assistant"}
	if text := parts.Text(); strings.TrimSpace(text) != "" {
		m.Content = text
	}
	for _, c := range parts.Calls() {
		m.ToolCalls = append(m.ToolCalls, toolCall{string(c.ID), "function", calledObject{c.Name, string(protocol.Input(c.Input))}})
	}
	if m.Content == nil && m.ToolCalls == nil {
		return // a thought alone is no message
	}
	w.reasoning(&m, parts)
	w.add(m)
}

// reasoning brings the reasoning back with the message that it led to.
func (w *writer) reasoning(m *message, parts pawl.Parts) {
	var text strings.Builder
	for _, p := range parts {
		r, ok := p.(pawl.Reasoning)
		if !ok {
			continue
		}
		text.WriteString(r.Text)
		if w.dialect.Reasoning == ReasoningDetails {
			m.ReasoningDetails = append(m.ReasoningDetails, sealedDetails(r)...)
		}
	}
	switch w.dialect.Reasoning {
	case ReasoningContent:
		if text.Len() > 0 || m.ToolCalls != nil {
			s := text.String()
			m.ReasoningContent = &s
		}
	case ReasoningText:
		m.Reasoning = text.String()
	case ReasoningDropped, ReasoningDetails:
	}
}

// sealedDetails returns the details that a decoder sealed a thought with.
func sealedDetails(r pawl.Reasoning) []json.RawMessage {
	var details []json.RawMessage
	if json.Unmarshal([]byte(protocol.Unseal(name, r.Signature)), &details) != nil {
		return nil // another protocol's seal, or none
	}
	return details
}

// mark marks the last two ends of the person's side, before which the
// assistant spoke: the next request finds the longer prefix, and after a retry
// the shorter.
func (w *writer) mark() {
	marks, end := 2, true
	for i := len(w.out) - 1; i >= 0 && marks > 0; i-- {
		person := w.out[i].Role == "user" || w.out[i].Role == "tool"
		if person && end {
			setMark(&w.out[i])
			marks--
		}
		end = !person
	}
}

// setMark ends a prefix with a message: in its last part, or if it has none, as
// a tool's result, in itself.
func setMark(m *message) {
	if parts, ok := m.Content.([]part); ok {
		parts[len(parts)-1].Cache = ephemeral
		return
	}
	m.Cache = ephemeral
}
