package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// runPromptHooks runs the chat.message hooks for a waiting prompt. The prompts of
// subagents come from no user, and hooks do not see them.
func (s *Stepper) runPromptHooks(ctx context.Context, j *journal, w pawl.Waiting) (hook.Outcome, error) {
	if j.history.Created().Parent != "" {
		return hook.Outcome{}, nil
	}
	event := hook.Event{Point: hook.ChatMessage, Parts: w.Prompt.Parts, Turn: j.history.Turns() + 1, Steers: j.history.Open() != nil}
	return s.runHooks(ctx, j, w.Prompt.Settings, event)
}

// withheld replaces a prompt that a hook has blocked.
const withheld = "(A prompt of the user's was refused by a hook, and is withheld.)"

// startTurn starts a turn with a waiting prompt. If a hook blocks the prompt, the turn
// ends at once and the model never sees the prompt's text. A prompt that is canceled
// while its hooks run is withdrawn. If the prompt has changed in the meantime, startTurn
// does nothing.
func (s *Stepper) startTurn(ctx context.Context, j *journal, w pawl.Waiting) error {
	hooksCtx, done := s.interruptibleHooks(ctx, j, w.Seq)
	bodies, err := s.openingEvents(hooksCtx, j, w)
	done()
	switch {
	case errors.Is(err, errPromptCanceled) && ctx.Err() == nil:
		bodies = []pawl.Body{pawl.Withdrawn{Prompt: w.Seq}}
	case err != nil:
		return err
	}
	j.mu.Lock()
	j.rulings, j.stopped = nil, nil
	j.mu.Unlock()
	_, err = j.appendIf(ctx, j.stillWaiting(w), bodies...)
	return err
}

// openingEvents runs the hooks for a prompt and returns the events that start its turn.
func (s *Stepper) openingEvents(ctx context.Context, j *journal, w pawl.Waiting) ([]pawl.Body, error) {
	begin := []pawl.Body{pawl.TurnStarted{Prompt: w.Seq}}
	if err := s.authorizeActors(ctx, j, w.Prompt.Settings, w.Prompt.By); err != nil {
		return append(begin, pawl.TurnFinished{Reason: pawl.ReasonPermissionDenied, Message: err.Error()}), nil
	}
	err := s.runSessionStartHooks(ctx, j, w.Prompt.Settings)
	var o hook.Outcome
	if err == nil {
		if o, err = s.runPromptHooks(ctx, j, w); err != nil {
			err = hookFault(ctx, err)
		}
	}
	var stop *Stop
	switch {
	case errors.As(err, &stop):
		return append(begin, pawl.TurnFinished{Reason: stop.Reason, Fault: stop.Fault, Message: stop.Message}), nil
	case err != nil:
		return nil, err
	case o.Block || o.Stop:
		why := fmt.Sprintf("hook %s blocked the prompt: %s", o.By, o.Reason)
		return []pawl.Body{
			pawl.Reworded{Prompt: w.Seq, Parts: pawl.Parts{pawl.Text{Text: withheld}}}, begin[0],
			pawl.TurnFinished{Reason: pawl.ReasonPermissionDenied, Message: s.sanitizeHookText(why)},
		}, nil
	case o.Parts != nil:
		begin = append([]pawl.Body{pawl.Reworded{Prompt: w.Seq, Parts: o.Parts}}, begin...)
	}
	return slices.Concat(begin, s.takeHookTexts(j), s.injections(o.Context...)), nil
}

// stillWaiting returns a condition for appendIf: the prompt still waits, unchanged.
func (j *journal) stillWaiting(w pawl.Waiting) func() bool {
	return func() bool {
		return slices.ContainsFunc(j.history.Waiting(), func(now pawl.Waiting) bool {
			return now.Seq == w.Seq && reflect.DeepEqual(now.Prompt.Parts, w.Prompt.Parts)
		})
	}
}

// steeringEvents runs the hooks for a prompt that steers and returns the events that add
// it to the open turn. A prompt that a hook blocks is withdrawn, and the user sees why.
func (s *Stepper) steeringEvents(ctx context.Context, j *journal, w pawl.Waiting) ([]pawl.Body, error) {
	o, err := s.runPromptHooks(ctx, j, w)
	switch {
	case err != nil:
		return nil, hookFault(ctx, err)
	case o.Block || o.Stop:
		return []pawl.Body{pawl.Withdrawn{Prompt: w.Seq}}, nil
	}
	var bodies []pawl.Body
	if o.Parts != nil {
		bodies = append(bodies, pawl.Reworded{Prompt: w.Seq, Parts: o.Parts})
	}
	bodies = append(bodies, pawl.Injected{Source: "user", Prompt: w.Seq})
	return append(bodies, s.injections(o.Context...)...), nil
}

// runStopHooks runs the assistant.done or subagent.stop hooks before the turn ends, and
// reports whether they keep it going. The reason goes to the log, so that a repeated
// step goes on too.
func (s *Stepper) runStopHooks(ctx context.Context, j *journal, t Turn) (bool, error) {
	open := j.history.Open()
	finish := open.Steps[t.Step-1].Finish
	if s.Hooks == nil || t.Last() || finish != pawl.FinishEndTurn {
		return false, nil
	}
	point := hook.AssistantDone
	if j.history.Created().Parent != "" {
		point = hook.SubagentStop
	}
	messages := j.history.Messages()
	o, err := s.runHooks(ctx, j, open.Settings, hook.Event{
		Point: point, Turn: t.Number, Reply: messages[len(messages)-1].Text(), Finish: finish, Reason: finish.Reason(), StopBlocks: open.Kept,
	})
	switch {
	case err != nil:
		return false, hookFault(ctx, err)
	case !o.Continue || o.Injection == "":
		return false, nil
	}
	_, err = j.append(ctx, s.injections(strings.Join(append(o.Context, o.Injection), "\n\n"))...) // one event: OpenTurn.Kept counts them
	return true, err
}
