package fakeprovider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// tool is a tool of the request.
type tool struct {
	name   string
	schema json.RawMessage
}

// takePrefill removes a final assistant message without calls from the history: it is the start of the
// requested reply.
func (r *request) takePrefill() {
	n := len(r.messages)
	if n > 1 && r.messages[n-1].Role == pawl.RoleAssistant && len(r.messages[n-1].Parts.Calls()) == 0 {
		r.prefill = r.messages[n-1].Text()
		r.messages = r.messages[:n-1]
	}
}

// replies returns the number of replies in the history.
func (r *request) replies() int {
	n := 0
	for _, m := range r.messages {
		if m.Role == pawl.RoleAssistant {
			n++
		}
	}
	return n
}

// check validates the rules that all protocols have in common.
func (r *request) check() error {
	if r.model == "" {
		return fmt.Errorf("model: field required")
	}
	if len(r.messages) == 0 {
		return fmt.Errorf("%s: at least one message is required", r.field)
	}
	if err := checkTools(r.tools); err != nil {
		return err
	}
	c := checker{calls: map[pawl.CallID]bool{}, results: map[pawl.CallID]bool{}}
	for i, m := range r.messages {
		if err := c.message(i, m); err != nil {
			return fmt.Errorf("%s.%d: %w", r.field, m.Seq, err)
		}
		c.last = m.Role
	}
	if len(c.open) > 0 {
		return fmt.Errorf("%s: call %q has no result", r.field, c.open[0])
	}
	if c.last == pawl.RoleAssistant {
		return fmt.Errorf("%s: the last message must not be the assistant's", r.field)
	}
	return nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

func checkTools(tools []tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case !toolName.MatchString(t.name):
			return fmt.Errorf("tools.%d: name %q: want 1 to 64 letters, digits, dots, dashes or underscores", i, t.name)
		case seen[t.name]:
			return fmt.Errorf("tools.%d: name %q: there is another of this name", i, t.name)
		case json.Unmarshal(t.schema, &schema) != nil || !strings.EqualFold(schema.Type, "object"):
			return fmt.Errorf("tools.%d: %s: want a JSON Schema of type object, got %.100q", i, t.name, t.schema)
		}
		seen[t.name] = true
	}
	return nil
}

// checker validates a history from its beginning.
type checker struct {
	last    pawl.Role
	open    []pawl.CallID // calls of the last assistant message that have no result
	calls   map[pawl.CallID]bool
	results map[pawl.CallID]bool
}

func (c *checker) message(i int, m pawl.Message) error {
	switch {
	case len(m.Parts) == 0:
		return fmt.Errorf("%s: content must not be empty", m.Role)
	case i == 0 && m.Role == pawl.RoleAssistant:
		return fmt.Errorf("roles are out of order: the first message must be the user's")
	case c.last == pawl.RoleAssistant && m.Role == pawl.RoleAssistant:
		return fmt.Errorf("roles are out of order: two assistant messages in a row")
	}
	for j, part := range m.Parts {
		if err := c.part(part); err != nil {
			return fmt.Errorf("content.%d: %w", j, err)
		}
	}
	if m.Role != pawl.RoleAssistant && len(c.open) > 0 {
		return fmt.Errorf("call %q has no result: each call must have one in the next message", c.open[0])
	}
	return nil
}

func (c *checker) part(part pawl.Part) error {
	switch p := part.(type) {
	case pawl.Text:
		if strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf("text must not be empty or whitespace alone")
		}
	case pawl.Reasoning:
		if p.Signature != "" && p.Signature != seal(p.Text) {
			return fmt.Errorf("invalid signature: reasoning must come back as it was sent")
		}
	case pawl.ToolCall:
		return c.call(p)
	case pawl.ToolResult:
		return c.result(p)
	case pawl.File, pawl.Patch:
	}
	return nil
}

func (c *checker) call(p pawl.ToolCall) error {
	var object map[string]json.RawMessage
	switch {
	case p.ID == "":
		return fmt.Errorf("a call has no id")
	case p.Name == "":
		return fmt.Errorf("call %q has no name", p.ID)
	case c.calls[p.ID]:
		return fmt.Errorf("duplicate id: there is another call %q", p.ID)
	case json.Unmarshal(p.Input, &object) != nil || object == nil:
		return fmt.Errorf("call %q: want an object as its input, got %.100q", p.ID, p.Input)
	case p.Signature != "" && p.Signature != unsigned && p.Signature != sealCall(p.Name, p.Input):
		return fmt.Errorf("call %q: invalid signature: a call must come back as it was sent", p.ID)
	}
	c.calls[p.ID] = true
	c.open = append(c.open, p.ID)
	return nil
}

func (c *checker) result(p pawl.ToolResult) error {
	i := slices.Index(c.open, p.Call)
	switch {
	case p.Call == "":
		return fmt.Errorf("a result does not say of which call")
	case c.results[p.Call]:
		return fmt.Errorf("duplicate id: there is another result of call %q", p.Call)
	case i < 0:
		return fmt.Errorf("the result of %q has no call in the message before", p.Call)
	}
	c.results[p.Call] = true
	c.open = slices.Delete(c.open, i, i+1)
	return nil
}
