package gemini

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// The roles of a conversation.
const (
	roleUser  = "user"
	roleModel = "model"
)

// unsigned stands in for the signature of a call by another model, as documented by Google. Gemini 3 rejects
// requests without one.
const unsigned = "skip_thought_signature_validator"

// contents converts the conversation to alternating user and model contents: results and prompts are both user
// content, and are combined.
func (c *Client) contents(conversation []pawl.Message) []content {
	out := []content{}
	calls := map[pawl.CallID]call{} // results refer to the function name of their call
	for _, m := range conversation {
		role := roleUser
		if m.Role == pawl.RoleAssistant {
			role = roleModel
		}
		parts := c.parts(m.Parts, calls)
		if c.Levels {
			signFirst(parts)
		}
		out = appendContent(out, role, parts)
		if !c.Levels {
			out = appendContent(out, role, c.parts(protocol.Beside(protocol.Results(m.Parts)), calls))
		}
	}
	return out
}

// appendContent adds parts to the last content if it has the same role. Files are never combined with results:
// if a reply has several calls, the API counts the parts beside their results and rejects the request.
func appendContent(out []content, role string, parts []part) []content {
	n := len(out)
	switch {
	case len(parts) == 0:
		return out
	case n == 0, out[n-1].Role != role, holdsData(parts) && holdsResult(out[n-1].Parts):
		return append(out, content{role, parts})
	}
	out[n-1].Parts = append(out[n-1].Parts, parts...)
	return out
}

func holdsResult(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Response != nil })
}

func holdsData(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Data != nil })
}

func (c *Client) parts(list pawl.Parts, calls map[pawl.CallID]call) []part {
	var parts []part
	for _, p := range list {
		parts = c.appendPart(parts, p, calls)
	}
	return parts
}

// appendPart adds a part, unless the provider must not see it.
func (c *Client) appendPart(parts []part, p pawl.Part, calls map[pawl.CallID]call) []part {
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
		answer := &response{ID: of.ID, Name: of.Name, Result: r}
		if c.Levels {
			for _, f := range p.Files {
				answer.Parts = append(answer.Parts, filePart(f))
			}
		}
		parts = append(parts, part{Response: answer})
	case pawl.File:
		parts = append(parts, filePart(p))
	case pawl.Patch:
	}
	return parts
}

// appendSigned adds a signed thought, or restores the signature of the text before it. Thoughts without a
// signature are not sent.
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

// signFirst makes sure that the first call of a reply is signed, which Gemini 3 requires.
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

func filePart(f pawl.File) part { return part{Data: &data{f.MediaType, f.Data}} }
