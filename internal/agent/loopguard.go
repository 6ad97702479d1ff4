package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/loops"
)

// fromLoop is the source of what the model is told when it goes round in circles.
const fromLoop = "loop"

// circles tells the model when it goes round in circles, once a finding. If that
// has not helped, a person is asked, or the turn ends. What an earlier attempt
// told or asked since the newest step is in the log, and is not repeated.
func (s *Stepper) guardLoops(ctx context.Context, j *journal) ([]pawl.Body, error) {
	open, verdict := j.history.Open(), j.loops.Verdict()
	switch {
	case slices.Contains(open.Injected, fromLoop):
		return nil, nil
	case open.Asked != nil:
		return s.askToGoOn(ctx, j, open.Asked.Asked.Text)
	case verdict.Severity == loops.Word:
		return []pawl.Body{pawl.Injected{Source: fromLoop, Text: verdict.Text()}}, nil
	case verdict.Severity != loops.Stop:
		return nil, nil
	case len(j.steering()) > 0:
		return nil, nil // a person is there, and says what to do
	case open.Settings.Absent || j.history.Created().Parent != "":
		return nil, &pawl.Stop{Reason: pawl.ReasonLoop, Message: verdict.Report()}
	default:
		return s.askToGoOn(ctx, j, verdict.Report())
	}
}

// askToGoOn puts it to a person whether a turn that repeats itself goes on. A yes
// may come with a word to the model.
func (s *Stepper) askToGoOn(ctx context.Context, j *journal, what string) ([]pawl.Body, error) {
	h := host{j}
	answer, err := h.ask(ctx, "", pawl.Ask{Kind: pawl.AskLoop, Text: what, Timeout: h.settings().AskTimeout})
	if err != nil {
		return nil, err
	}
	word := strings.TrimSpace(answer.Text)
	switch {
	case answer.Outcome == pawl.OutcomeCanceled:
		return nil, &pawl.Stop{Reason: pawl.ReasonCanceled}
	case answer.Outcome != pawl.OutcomeAnswered:
		return nil, &pawl.Stop{Reason: pawl.ReasonLoop, Message: what}
	case word == "":
		return nil, nil
	default:
		return []pawl.Body{pawl.Injected{Source: fromLoop, Text: fmt.Sprintf("The user was asked whether you shall go on, and says: %s", word)}}, nil
	}
}
