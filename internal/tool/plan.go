package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed plan_exit.md
var planExitDescription string

type planExitInput struct {
	Plan string `json:"plan" jsonschema:"the whole plan, in Markdown"`
}

// planAnswers are the permission modes in which the user can let the work
// start.
var planAnswers = []struct {
	mode string
	pawl.Option
}{
	{"guard", pawl.Option{Label: "Begin", Description: "asks only when a command leaves the sandbox"}},
	{"ask", pawl.Option{Label: "Begin, and ask", Description: "asks before each change of your files"}},
	{"plan", pawl.Option{Label: "Keep planning"}},
}

// PlanExit asks the user to approve the plan and leaves plan mode if they do.
func PlanExit() toolapi.Tool {
	return define(definition[planExitInput]{
		name:        "plan_exit",
		description: planExitDescription,
		risk:        toolapi.RiskSafe,
		access: func(_ toolapi.Call, in planExitInput) ([]pawl.Access, error) {
			if strings.TrimSpace(in.Plan) == "" {
				return nil, errors.New("the plan is empty")
			}
			return nil, nil
		},
		run: runPlanExit,
	})
}

func runPlanExit(ctx context.Context, call toolapi.Call, in planExitInput) (pawl.Result, error) {
	q := pawl.Question{Header: "Plan", Question: "Begin with this plan?"}
	for _, a := range planAnswers {
		q.Options = append(q.Options, a.Option)
	}
	answer, err := call.Caller.Ask(ctx, call.ID, pawl.Ask{
		Kind: pawl.AskPlan, Title: "Begin with this plan?", Text: in.Plan, Questions: []pawl.Question{q}, // no timeout: reading a plan can take long
	})
	if err != nil {
		return pawl.Result{}, err
	}
	result := pawl.Result{Meta: map[string]string{"outcome": string(answer.Outcome)}}
	if answer.Outcome == pawl.OutcomeAnswered {
		for _, a := range planAnswers {
			if a.mode != "plan" && answer.Answers[0][0] == a.Label {
				if err := call.Caller.SetMode(ctx, call.ID, a.mode); err != nil {
					return pawl.Result{}, err
				}
				result.Content = strings.TrimSpace("The user agrees: plan mode is over, begin. " + answer.Text)
				return result, nil
			}
		}
	}
	result.IsError = true
	result.Content = "Plan mode stays: nothing may be changed.\n" + answerText([]pawl.Question{q}, answer)
	return result, nil
}
