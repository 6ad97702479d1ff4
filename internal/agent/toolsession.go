package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl"
)

// host is a session as one of its calls may use it. Calls that run beside each
// other share the journal, so its history is read under its lock.
type host struct{ j *journal }

var _ pawl.ToolSession = host{}

// Seen returns the file's content as the model last knew it, as a hash.
func (h host) Seen(path string) string {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return h.j.history.Seen(path)
}

// Todos returns the session's list.
func (h host) Todos() []pawl.Todo {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return slices.Clone(h.j.history.Todos())
}

// SetTodos replaces the session's list.
func (h host) SetTodos(ctx context.Context, call pawl.CallID, todos []pawl.Todo) error {
	_, err := h.j.append(ctx, pawl.TodosSet{Call: call, Todos: todos})
	return err
}

// SetMode changes how the rest of the turn may act.
func (h host) SetMode(ctx context.Context, call pawl.CallID, mode string) error {
	_, err := h.j.append(ctx, pawl.ModeChanged{Call: call, Mode: mode})
	return err
}

// call returns what the log knows of a call now.
func (h host) call(id pawl.CallID) pawl.CallState {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return *h.j.history.Call(id)
}

// asked is what the call, or for a loop the turn, has asked already.
func (h host) asked(call pawl.CallID, kind pawl.AskKind) *pawl.OpenAsk {
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

// settings are those of the open turn now or, without one, of the newest prompt.
func (h host) settings() pawl.Settings {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	if open := h.j.history.Open(); open != nil {
		return open.Settings
	}
	return h.j.history.Settings()
}

var errNoAnswer = errors.New("nobody answered in time")

// Ask puts an ask to a person and waits for the answer, which may come through
// any process. An ask that an earlier attempt put is waited for again, with all
// of its time: nobody could answer while pawl was down.
func (h host) Ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	if a.Kind == pawl.AskPermission || a.Kind == pawl.AskLoop {
		return pawl.Answer{}, errors.New("a call does not ask for its own permission, nor for its turn")
	}
	return h.ask(ctx, call, a)
}

func (h host) ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	asked := h.asked(call, a.Kind)
	if asked == nil {
		if _, err := h.j.append(ctx, pawl.Asked{Call: call, Ask: a}); err != nil {
			return pawl.Answer{}, err
		}
		h.notifyAsk(ctx, call, a.Kind)
		asked = h.asked(call, a.Kind)
	}
	if h.settings().Absent {
		return h.answer(ctx, asked, pawl.OutcomeAbsent)
	}
	if h.parks(call) {
		return h.park(ctx, asked)
	}
	wait := ctx
	if a.Timeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(ctx, a.Timeout, errNoAnswer)
		defer cancel()
	}
	for e, err := range h.j.s.Bus.Events(wait, h.j.id, asked.Seq) {
		if err != nil {
			return pawl.Answer{}, err
		}
		if b, ok := e.Body.(pawl.Answered); ok && b.Ask == asked.Seq {
			return b.Answer, nil
		}
	}
	if err := takenAway(ctx); err != nil {
		return pawl.Answer{}, err // the ask stays open for whoever goes on with the turn
	}
	if ctx.Err() != nil {
		// The turn is canceled, and the log says that nobody needs to answer any more.
		if _, err := h.answer(context.WithoutCancel(ctx), asked, pawl.OutcomeCanceled); err != nil {
			return pawl.Answer{}, err
		}
		return pawl.Answer{}, ctx.Err()
	}
	return h.answer(ctx, asked, pawl.OutcomeTimeout)
}

// answer ends an ask without a person, unless one was quicker.
func (h host) answer(ctx context.Context, asked *pawl.OpenAsk, outcome pawl.Outcome) (pawl.Answer, error) {
	open := func() bool { return asked.Answer == nil }
	if _, err := h.j.appendIf(ctx, open, pawl.Answered{Ask: asked.Seq, Answer: pawl.Answer{Outcome: outcome}}); err != nil {
		return pawl.Answer{}, err
	}
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	return *asked.Answer, nil
}
