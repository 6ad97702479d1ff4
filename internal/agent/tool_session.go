package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// toolSession is the session as one of its tool calls may use it. Parallel calls share
// the journal, so they read its history under its lock.
type toolSession struct {
	s *Stepper
	j *journal
}

var _ toolapi.Session = toolSession{}

// Seen returns the hash of the file's content that the model has last read or written.
func (h toolSession) Seen(path string) string {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return h.j.history.Seen(path)
}

// Todos returns the session's todo list.
func (h toolSession) Todos() []pawl.Todo {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return slices.Clone(h.j.history.Todos())
}

// SetTodos replaces the session's todo list.
func (h toolSession) SetTodos(ctx context.Context, call pawl.CallID, todos []pawl.Todo) error {
	_, err := h.j.append(ctx, pawl.TodosSet{Call: call, Todos: todos})
	return err
}

// SetMode changes the permission mode for the rest of the turn.
func (h toolSession) SetMode(ctx context.Context, call pawl.CallID, mode string) error {
	_, err := h.j.append(ctx, pawl.ModeChanged{Call: call, Mode: mode})
	return err
}

// call returns the current state of a call.
func (h toolSession) call(id pawl.CallID) pawl.CallState {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return *h.j.history.Call(id)
}

// openAsk returns the ask that the call, or for a loop the turn, has put already; nil if
// it has put none.
func (h toolSession) openAsk(call pawl.CallID, kind pawl.AskKind) *pawl.OpenAsk {
	switch kind {
	case pawl.AskLoop:
		h.j.mu.Lock()
		defer h.j.mu.Unlock()
		return h.j.history.Open().Asked
	case pawl.AskPermission:
		return h.call(call).Permission
	default:
		return h.call(call).Asked
	}
}

var errNoAnswer = errors.New("no answer in time")

// Ask asks the user and waits for the answer, which may come through any process. An ask
// that an earlier attempt put is waited for again, with its full timeout: nobody could
// answer while pawl was down.
func (h toolSession) Ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	if a.Kind == pawl.AskPermission || a.Kind == pawl.AskLoop {
		return pawl.Answer{}, errors.New("a call does not ask for its own permission, nor for its turn")
	}
	return h.ask(ctx, call, a)
}

func (h toolSession) ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	ask := h.openAsk(call, a.Kind)
	if ask == nil {
		if _, err := h.j.append(ctx, pawl.Asked{Call: call, Ask: a}); err != nil {
			return pawl.Answer{}, err
		}
		h.notifyAsk(ctx, call, a.Kind)
		ask = h.openAsk(call, a.Kind)
	}
	if h.j.settings().Absent {
		return h.answer(ctx, ask, pawl.OutcomeAbsent)
	}
	if h.canSuspend(call) {
		return h.suspend(ctx, ask)
	}
	wait, cancel := h.s.waitContext(ctx, a.Timeout)
	defer cancel()
	for e, err := range h.s.Bus.Events(wait, h.j.id, ask.Seq) {
		if err != nil {
			return pawl.Answer{}, err
		}
		if b, ok := e.Body.(pawl.Answered); ok && b.Ask == ask.Seq {
			return b.Answer, nil
		}
	}
	if err := lostSession(ctx); err != nil {
		return pawl.Answer{}, err // the ask stays open for whoever resumes the turn
	}
	if ctx.Err() != nil {
		// The turn is canceled, so the log must say that the ask is closed.
		if _, err := h.answer(context.WithoutCancel(ctx), ask, pawl.OutcomeCanceled); err != nil {
			return pawl.Answer{}, err
		}
		return pawl.Answer{}, ctx.Err()
	}
	return h.answer(ctx, ask, pawl.OutcomeTimeout)
}

// answer closes an ask with the outcome, unless the user has answered it first. It
// returns the answer that counts.
func (h toolSession) answer(ctx context.Context, ask *pawl.OpenAsk, outcome pawl.Outcome) (pawl.Answer, error) {
	open := func() bool { return ask.Answer == nil }
	if _, err := h.j.appendIf(ctx, open, pawl.Answered{Ask: ask.Seq, Answer: pawl.Answer{Outcome: outcome}}); err != nil {
		return pawl.Answer{}, err
	}
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return *ask.Answer, nil
}

// cancelOpenAsks returns the events that close the open asks of the open turn.
func (j *journal) cancelOpenAsks() []pawl.Body {
	open := j.history.Open()
	asks := []*pawl.OpenAsk{open.Asked}
	for _, step := range open.Steps {
		if !step.Replied {
			continue
		}
		for _, id := range step.Calls {
			call := j.history.Call(id)
			asks = append(asks, call.Permission, call.Asked)
		}
	}
	var bodies []pawl.Body
	for _, a := range asks {
		if a != nil && a.Answer == nil {
			bodies = append(bodies, pawl.Answered{Ask: a.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeCanceled}})
		}
	}
	return bodies
}
