package acp

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// form is a form for the user to fill in. The fields are named by their index.
type form struct {
	call    string // the tool call that it belongs to; "" if the editor does not know it
	message string
	fields  []pawl.Question
}

// fillForm presents questions as a form. Anything but a complete form is a denial.
func (s *session) fillForm(ctx context.Context, toolCall call, ask pawl.Ask) (pawl.Answer, error) {
	f := form{message: humanize.Plural(len(ask.Questions), "question"), fields: ask.Questions}
	if len(ask.Questions) == 1 {
		f.message = sanitize.Marked(ask.Questions[0].Question)
	}
	if toolCall.derived {
		f.message = toolCall.title + ": " + f.message
	} else {
		f.call = toolCall.id
	}
	filled, err := s.editor.fill(ctx, s.id, f)
	if err != nil || filled == nil {
		return pawl.Answer{Outcome: pawl.OutcomeDenied}, err
	}
	answer := pawl.Answer{Outcome: pawl.OutcomeAnswered}
	for i, q := range ask.Questions {
		chosen := chosenAnswers(q, filled[strconv.Itoa(i)])
		if len(chosen) == 0 {
			return pawl.Answer{Outcome: pawl.OutcomeDenied}, nil
		}
		answer.Answers = append(answer.Answers, chosen)
	}
	return answer, nil
}

// chosenAnswers returns the answers to a question: the labels of the options, which the
// form has by index, or text. It returns nil if a value does not fit the question.
func chosenAnswers(q pawl.Question, value any) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	if len(values) > 1 && !q.Multiple {
		return nil
	}
	var list []string
	for _, v := range values {
		text, ok := v.(string)
		if n, err := strconv.Atoi(text); len(q.Options) > 0 && ok {
			if ok = err == nil && n >= 0 && n < len(q.Options); ok {
				text = q.Options[n].Label
			}
		}
		if !ok || text == "" || slices.Contains(list, text) {
			return nil
		}
		list = append(list, text)
	}
	return list
}

// schema returns the form's schema.
func (f form) schema() formSchema {
	schema := formSchema{Type: "object", Properties: map[string]formField{}}
	for i, q := range f.fields {
		name := strconv.Itoa(i)
		field := formField{Type: "string", Title: line(q.Header), Description: sanitize.Marked(q.Question)}
		var options []formOption
		for n, o := range q.Options {
			options = append(options, formOption{Const: strconv.Itoa(n), Title: line(o.Label), Description: sanitize.Marked(o.Description)})
		}
		if field.OneOf = options; q.Multiple && len(options) > 0 {
			field.Type, field.OneOf, field.Items, field.MinItems = "array", nil, &formItems{options}, 1
		}
		schema.Properties[name] = field
		schema.Required = append(schema.Required, name)
	}
	return schema
}

// fill asks the user to fill in a form. It returns nil if they do not.
func (w *connection) fill(ctx context.Context, id pawl.SessionID, f form) (map[string]any, error) {
	r, err := request[elicitationResponse](ctx, w, "elicitation/create", elicitationRequest{
		SessionID: string(id), ToolCallID: f.call, Mode: "form", Message: f.message, RequestedSchema: f.schema(),
	})
	if err != nil || r.Action != "accept" {
		return nil, err
	}
	if r.Content == nil {
		return nil, fmt.Errorf("the editor returned an empty form")
	}
	return r.Content, nil
}
