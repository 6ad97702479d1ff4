package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/loops"
)

// fromLoop is the source of warnings to a model that repeats itself.
const fromLoop = "loop"

// guardLoops returns a warning to a model that repeats itself, once per finding. If
// warnings have not helped, it asks the user whether to go on, or ends the turn. What an
// earlier attempt warned or asked since the newest step is in the log and not repeated.
func (s *Stepper) guardLoops(ctx context.Context, j *journal) ([]pawl.Body, error) {
	open, verdict := j.history.Open(), j.loops.Verdict()
	switch {
	case slices.Contains(open.Injected, fromLoop):
		return nil, nil
	case open.Asked != nil:
		return s.askToGoOn(ctx, j, open.Asked.Asked.Text)
	case verdict.Severity == loops.Warn:
		return []pawl.Body{pawl.Injected{Source: fromLoop, Text: verdict.Text()}}, nil
	case verdict.Severity != loops.Stop:
		return nil, nil
	case len(j.steeringPrompts()) > 0:
		return nil, nil // the user is there and steers
	case open.Settings.Absent || j.history.Created().Parent != "":
		return nil, &Stop{Reason: pawl.ReasonLoop, Message: verdict.Report()}
	default:
		return s.askToGoOn(ctx, j, verdict.Report())
	}
}

// askToGoOn asks the user whether a turn that repeats itself goes on. The answer may
// include a message to the model.
func (s *Stepper) askToGoOn(ctx context.Context, j *journal, what string) ([]pawl.Body, error) {
	answer, err := toolSession{s, j}.ask(ctx, "", pawl.Ask{Kind: pawl.AskLoop, Title: "Continue?", Text: what, Timeout: j.settings().AskTimeout})
	if err != nil {
		return nil, err
	}
	message := strings.TrimSpace(answer.Text)
	switch {
	case answer.Outcome == pawl.OutcomeCanceled:
		return nil, &Stop{Reason: pawl.ReasonCanceled}
	case answer.Outcome != pawl.OutcomeAnswered:
		return nil, &Stop{Reason: pawl.ReasonLoop, Message: what}
	case message == "":
		return nil, nil
	default:
		return []pawl.Body{pawl.Injected{Source: fromLoop, Text: fmt.Sprintf("The user was asked whether you should continue, and answered: %s", message)}}, nil
	}
}
