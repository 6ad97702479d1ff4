package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
)

// The answers to an elicitation request.
var (
	accepted = "accept"
	declined = &sdk.ElicitResult{Action: "decline"}
	canceled = &sdk.ElicitResult{Action: "cancel"}
)

var errAsks = fmt.Errorf("the server asked more than %d times", sessionAsks)

// elicit forwards a form of a server to the user whose call it is working on.
// Each call may ask once; requests beyond that, without a call, or with more
// than a small form are denied. A server that keeps asking is disconnected.
func (l *link) elicit(ctx context.Context, s *session, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	s.mu.Lock()
	s.asks++
	many := s.asks > sessionAsks
	s.mu.Unlock()
	if many {
		s.fail(errAsks)
		return declined, nil
	}
	form, err := readForm(p)
	if err != nil {
		return declined, nil //nolint:nilerr // the server gets no reason
	}
	r := l.asker(ctx)
	if r == nil {
		return declined, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	answer, err := r.call.Caller.Ask(ctx, r.call.ID, form.ask(l.server.Name, p.Message))
	if err != nil {
		return canceled, nil //nolint:nilerr // the call has ended, or the log: the server need not know which
	}
	return form.result(answer), nil
}

// asker returns the call for which the server asks and records that it has
// asked: the call of the context, or the oldest that has not asked.
func (l *link) asker(ctx context.Context) *running {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := ctx.Value(runningKey{}).(*running)
	if !ok {
		i := slices.IndexFunc(l.running, func(r *running) bool { return !r.asked })
		if i < 0 {
			return nil
		}
		r = l.running[i]
	}
	if r.asked || r.call.Caller == nil {
		return nil
	}
	r.asked = true
	return r
}

// field is a field of a form.
type field struct {
	name     string
	kind     string // string, number, integer or boolean
	text     string
	options  []string // allowed values; none means any
	required bool
}

type form []field

// readForm decodes the schema of a form. It returns an error for forms that
// are not shown to the user.
func readForm(p *sdk.ElicitParams) (form, error) {
	if p == nil || p.URL != "" || p.Mode != "" && p.Mode != "form" {
		return nil, errors.New("only forms are supported")
	}
	var schema struct {
		Properties map[string]struct {
			Type        string   `json:"type"`
			Title       string   `json:"title"`
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
			OneOf       []struct {
				Const string `json:"const"`
			} `json:"oneOf"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	text, err := json.Marshal(p.RequestedSchema)
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil || len(text) > schemaBytes || len(schema.Properties) > askFields {
		return nil, errors.New("the form is empty or too large")
	}
	var f form
	for name, property := range schema.Properties {
		one := field{name: name, kind: property.Type, options: property.Enum, required: slices.Contains(schema.Required, name)}
		for _, o := range property.OneOf {
			one.options = append(one.options, o.Const)
		}
		if one.kind == "boolean" {
			one.options = []string{"yes", "no"}
		}
		if len(one.options) > askOptions || !slices.Contains([]string{"string", "number", "integer", "boolean"}, one.kind) {
			return nil, fmt.Errorf("unsupported field %q", name)
		}
		one.text = strings.TrimSpace(line(property.Title, nameBytes) + " " + line(property.Description, askChars))
		f = append(f, one)
	}
	slices.SortFunc(f, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return f, nil
}

// confirm is the answer to a form without fields.
const confirm = "yes"

// ask converts the form to an ask for the user. It always names the server.
func (f form) ask(server, message string) pawl.Ask {
	who := "MCP server " + server + " asks: " + short(shown(short(message, askChars)), askChars)
	a := pawl.Ask{Kind: pawl.AskQuestion, Text: who}
	for _, one := range f {
		q := pawl.Question{Header: line(one.name, 30), Question: who + "\n" + cmp.Or(one.text, line(one.name, nameBytes))}
		for _, o := range one.options {
			q.Options = append(q.Options, pawl.Option{Label: line(o, nameBytes)})
		}
		a.Questions = append(a.Questions, q)
	}
	if len(f) == 0 {
		a.Questions = []pawl.Question{{Header: server, Question: who, Options: []pawl.Option{{Label: confirm}, {Label: "no"}}}}
	}
	return a
}

// result converts the user's answer to an elicitation result.
func (f form) result(a pawl.Answer) *sdk.ElicitResult {
	switch {
	case a.Outcome == pawl.OutcomeCanceled || a.Outcome == pawl.OutcomeTimeout:
		return canceled
	case a.Outcome != pawl.OutcomeAnswered:
		return declined
	case len(f) == 0:
		if len(a.Answers) == 1 && slices.Equal(a.Answers[0], []string{confirm}) {
			return &sdk.ElicitResult{Action: accepted}
		}
		return declined
	case len(a.Answers) != len(f):
		return declined
	}
	content := map[string]any{}
	for i, one := range f {
		value, ok := one.value(strings.Join(a.Answers[i], ", "))
		if !ok && one.required {
			return declined
		}
		if ok {
			content[one.name] = value
		}
	}
	return &sdk.ElicitResult{Action: accepted, Content: content}
}

// value parses the user's text by the kind of the field.
func (f field) value(text string) (any, bool) {
	text = strings.TrimSpace(text)
	switch f.kind {
	case "boolean":
		return strings.EqualFold(text, "yes") || strings.EqualFold(text, "true"), text != ""
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	}
	for _, o := range f.options {
		if line(o, nameBytes) == text {
			return o, true
		}
	}
	return text, text != "" && len(f.options) == 0
}
