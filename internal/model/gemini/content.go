package gemini

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// The sides of a conversation.
const (
	roleUser  = "user"
	roleModel = "model"
)

// unsigned stands for the signature of a call that another model made: Google's
// own word for it. Without one Gemini 3 refuses the request.
const unsigned = "skip_thought_signature_validator"

// contents turns the conversation into turns of two sides, as the protocol has
// it: results and prompts are both the user's side, and stand in one content.
func (c *Client) contents(conversation []pawl.Message) []content {
	out := []content{}
	calls := map[pawl.CallID]call{} // results name their call's function
	for _, m := range conversation {
		role := roleUser
		if m.Role == pawl.RoleAssistant {
			role = roleModel
		}
		var parts []part
		for _, p := range m.Parts {
			parts = appendPart(parts, p, calls)
		}
		if c.Levels {
			signFirst(parts)
		}
		switch n := len(out); {
		case len(parts) == 0:
		case n > 0 && out[n-1].Role == role:
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		default:
			out = append(out, content{role, parts})
		}
	}
	return out
}

// appendPart adds a part, unless the provider must not see it.
func appendPart(parts []part, p pawl.Part, calls map[pawl.CallID]call) []part {
	switch p := p.(type) {
	case pawl.Text:
		if p.Text != "" {
			parts = append(parts, part{Text: &p.Text})
		}
	case pawl.Reasoning:
		parts = appendSigned(parts, p)
	case pawl.ToolCall:
		id, signature := callSeal(p.Signature)
		calls[p.ID] = call{ID: id, Name: p.Name}
		parts = append(parts, part{Call: &call{id, p.Name, protocol.Input(p.Input)}, Signature: signature})
	case pawl.ToolResult:
		of := calls[p.Call]
		r := result{Output: &p.Content}
		if p.IsError {
			r = result{Error: &p.Content}
		}
		parts = append(parts, part{Response: &response{of.ID, of.Name, r}})
	case pawl.File:
		parts = append(parts, filePart(p))
	case pawl.Patch:
	}
	return parts
}

// appendSigned adds a signed thought, or gives the text before it back the
// signature that came with it. Thoughts without one are for people only.
func appendSigned(parts []part, r pawl.Reasoning) []part {
	length, signature, ok := textSeal(r.Signature)
	n := len(parts)
	switch {
	case signature == "":
		return parts
	case !ok:
		return append(parts, part{Text: &r.Text, Thought: true, Signature: signature})
	case length == 0 || n == 0 || parts[n-1].Text == nil || len(*parts[n-1].Text) < length:
		return append(parts, part{Text: new(string), Signature: signature})
	}
	text := *parts[n-1].Text
	before, own := text[:len(text)-length], text[len(text)-length:]
	parts = parts[:n-1]
	if before != "" {
		parts = append(parts, part{Text: &before})
	}
	return append(parts, part{Text: &own, Signature: signature})
}

// signFirst sees to it that the first of a reply's calls is signed, which is
// the one that Gemini 3 signs and looks at.
func signFirst(parts []part) {
	for i := range parts {
		if parts[i].Call == nil {
			continue
		}
		if parts[i].Signature == "" {
			parts[i].Signature = unsigned
		}
		return
	}
}

func filePart(f pawl.File) part {
	kind, _, _ := strings.Cut(f.MediaType, "/")
	if kind == "image" || kind == "audio" || kind == "video" || f.MediaType == "application/pdf" {
		return part{Data: &data{f.MediaType, f.Data}}
	}
	text := protocol.FileText(f)
	return part{Text: &text}
}
