package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed question.md
var questionDescription string

type questionInput struct {
	Questions []questionItem `json:"questions" jsonschema:"1 to 4"`
}

type questionItem struct {
	Header   string           `json:"header" jsonschema:"at most 30 characters"`
	Question string           `json:"question"`
	Options  []questionOption `json:"options"`
	Multiple bool             `json:"multiple,omitempty"`
}

type questionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Question asks the user and waits for the answers.
func Question() toolapi.Tool {
	return define(definition[questionInput]{
		name:        "question",
		description: questionDescription,
		risk:        toolapi.RiskSafe,
		access:      func(_ toolapi.Call, in questionInput) ([]pawl.Access, error) { return nil, in.check() },
		run: func(ctx context.Context, call toolapi.Call, in questionInput) (pawl.Result, error) {
			questions := in.questions()
			answer, err := call.Caller.Ask(ctx, call.ID, pawl.Ask{Kind: pawl.AskQuestion, Title: questions[0].Question, Questions: questions, Timeout: QuestionTimeout})
			if err != nil {
				return pawl.Result{}, err
			}
			return pawl.Result{Content: answerText(questions, answer), Meta: map[string]string{"outcome": string(answer.Outcome)}}, nil
		},
	})
}

func (in questionInput) check() error {
	if n := len(in.Questions); n == 0 || n > Questions {
		return fmt.Errorf("%d questions: ask 1 to %d", n, Questions)
	}
	for _, q := range in.Questions {
		switch {
		case strings.TrimSpace(q.Header) == "" || strings.TrimSpace(q.Question) == "":
			return errors.New("a question needs a header and a question")
		case utf8.RuneCountInString(q.Header) > QuestionHeader:
			return fmt.Errorf("the header %q has more than %d characters", q.Header, QuestionHeader)
		case len(q.Options) > QuestionChoice:
			return fmt.Errorf("the question %q has more than %d options", q.Header, QuestionChoice)
		}
		labels := map[string]bool{}
		for _, o := range q.Options {
			if strings.TrimSpace(o.Label) == "" || labels[o.Label] {
				return fmt.Errorf("the question %q has an option without a label, or two of one", q.Header)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

func (in questionInput) questions() []pawl.Question {
	var list []pawl.Question
	for _, q := range in.Questions {
		question := pawl.Question{Header: q.Header, Question: q.Question, Multiple: q.Multiple}
		for _, o := range q.Options {
			question.Options = append(question.Options, pawl.Option(o))
		}
		list = append(list, question)
	}
	return list
}

// noAnswer explains to the model why the user did not answer and how to
// continue.
var noAnswer = map[pawl.Outcome]string{
	pawl.OutcomeDenied:   "null (the user does not want to answer)",
	pawl.OutcomeTimeout:  "null (no answer in time: decide yourself, and say what you assumed)",
	pawl.OutcomeAbsent:   "null (no user is present: decide yourself, and say what you assumed)",
	pawl.OutcomeCanceled: "null (canceled)",
}

func answerText(questions []pawl.Question, a pawl.Answer) string {
	var out strings.Builder
	if a.Outcome != pawl.OutcomeAnswered {
		out.WriteString(noAnswer[a.Outcome])
	}
	for i, chosen := range a.Answers {
		fmt.Fprintf(&out, "%s: %s\n", questions[i].Header, strings.Join(chosen, "; "))
	}
	if a.Text != "" {
		fmt.Fprintf(&out, "\nThe user adds: %s\n", a.Text)
	}
	return strings.TrimSpace(out.String())
}
