package openaichat

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// ephemeral marks a cache breakpoint for Anthropic models. A request may have four: the system prompt, which
// includes the tools, and the last two user messages.
var ephemeral = &typed{"ephemeral"}

// strictModels matches Mistral models, on any provider: they require an assistant message between a result and
// the next user message.
var strictModels = regexp.MustCompile(`(?i)[sx]tral`)

const filler = "I have the results."

// writer converts the conversation. Except for cache breakpoints, the output of a message does not depend on
// later messages, so that successive requests start with the same bytes.
type writer struct {
	dialect Dialect
	marked  bool // the model takes cache breakpoints: texts are written as parts, which can carry one
	strict  bool // the model rejects a user message after a result
	beside  bool // the last message has files of results; the next user message is added to it
	out     []message
}

func (w *writer) add(m message) {
	if n := len(w.out); w.strict && n > 0 && w.out[n-1].Role == "tool" && m.Role == "user" {
		w.out = append(w.out, message{Role: "assistant", Content: filler})
	}
	w.out, w.beside = append(w.out, m), false
}

// text returns the content of a message with a single text.
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

// results writes each result as text, followed by the files of all in one user message: nothing may stand
// between the results.
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
	case w.beside: // some servers reject two user messages in a row
		last := &w.out[len(w.out)-1]
		last.Content = append(last.Content.([]part), content...)
	case len(content) == 1 && content[0].Type == "text":
		w.add(message{Role: "user", Content: w.text(content[0].Text)}) // also accepted by servers without support for parts
	default:
		w.add(message{Role: "user", Content: content})
	}
}

// userParts converts the text and files of a user message.
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
		case pawl.Reasoning, pawl.ToolCall, pawl.ToolResult, pawl.Patch: // not user content
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
		return // reasoning alone is not a message
	}
	w.reasoning(&m, parts)
	w.add(m)
}

// reasoning returns the reasoning with the message that it led to.
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

// sealedDetails returns the reasoning details in a thought's signature.
func sealedDetails(r pawl.Reasoning) []json.RawMessage {
	var details []json.RawMessage
	if json.Unmarshal([]byte(protocol.Unseal(name, r.Signature)), &details) != nil {
		return nil // of another protocol, or none
	}
	return details
}

// mark sets cache breakpoints at the last two user messages that follow an assistant message: the next request
// uses the later one, and a retry the earlier one.
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

// setMark sets a breakpoint in the last part of a message or, if it has no parts, as a tool result, in the
// message itself.
func setMark(m *message) {
	if parts, ok := m.Content.([]part); ok {
		parts[len(parts)-1].Cache = ephemeral
		return
	}
	m.Cache = ephemeral
}
