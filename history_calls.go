package pawl

import (
	"fmt"
	"slices"
)

// reword replaces the text of a waiting prompt.
func (h *History) reword(b Reworded) error {
	i := slices.IndexFunc(h.waiting, func(w Waiting) bool { return w.Seq == b.Prompt })
	if i < 0 {
		return fmt.Errorf("prompt %d is not queued", b.Prompt)
	}
	h.waiting = slices.Clone(h.waiting) // callers may hold the slice
	h.waiting[i].Prompt.Parts = b.Parts
	if b.By != (Actor{}) {
		h.waiting[i].Prompt.By = b.By // the prompt is theirs now
	}
	return nil
}

// take removes a waiting prompt.
func (h *History) take(seq Seq) (Waiting, error) {
	i := slices.IndexFunc(h.waiting, func(w Waiting) bool { return w.Seq == seq })
	if i < 0 {
		return Waiting{}, fmt.Errorf("prompt %d is not queued", seq)
	}
	w := h.waiting[i]
	h.waiting = slices.Delete(slices.Clone(h.waiting), i, i+1) // callers may hold the slice
	return w, nil
}

// useCallID marks a call ID as used, by a call of the open turn or, if c is nil, by
// an earlier one.
func (h *History) useCallID(id CallID, c *CallState) {
	if h.calls == nil {
		h.calls = map[CallID]*CallState{}
	}
	h.calls[id] = c
}

// unfinished returns a call of the open turn that has no result yet.
func (h *History) unfinished(id CallID) (*CallState, error) {
	call := h.calls[id]
	if call == nil {
		return nil, fmt.Errorf("call %s does not belong to the open turn", id)
	}
	if call.Finished {
		return nil, fmt.Errorf("call %s already has a result", id)
	}
	return call, nil
}

// settle drops the details of finished calls. Their IDs and asks are kept, because
// a resumed turn runs through its steps again.
func (h *History) settle(calls []CallID) {
	for _, id := range calls {
		c := h.calls[id]
		c.Call, c.Started = ToolCall{ID: c.Call.ID, Name: c.Call.Name}, nil
	}
}

func (h *History) ask(e Event, b Asked) error {
	if b.Kind == AskLoop {
		return h.askTurn(e, b)
	}
	call, err := h.unfinished(b.Call)
	if err != nil {
		return err
	}
	ask := &call.Asked
	if b.Kind == AskPermission {
		ask = &call.Permission
	}
	if *ask != nil {
		return fmt.Errorf("call %s has already asked", b.Call)
	}
	*ask = &OpenAsk{Seq: e.Seq, At: e.At, Asked: b}
	return nil
}

// askTurn records what the turn itself asks, between two steps.
func (h *History) askTurn(e Event, b Asked) error {
	if err := h.betweenSteps(); err != nil {
		return err
	}
	if b.Call != "" || h.open.Asked != nil {
		return fmt.Errorf("a turn can ask only once between two steps, and not for a call")
	}
	h.open.Asked = &OpenAsk{Seq: e.Seq, At: e.At, Asked: b}
	return nil
}

func (h *History) answer(b Answered) error {
	a := h.Ask(b.Ask)
	if a == nil || a.Answer != nil {
		return fmt.Errorf("event %d is not an open question", b.Ask)
	}
	a.Answer, a.By = &b.Answer, b.By
	return nil
}

func (h *History) spawn(b Spawned) error {
	call, err := h.unfinished(b.Call)
	if err != nil {
		return err
	}
	if call.Spawned != nil {
		return fmt.Errorf("call %s already has a subagent", b.Call)
	}
	call.Spawned = &b
	h.open.Subagents = append(h.open.Subagents, b)
	if b.Background {
		h.open.Pending = append(h.open.Pending, b.Subagent)
	}
	return nil
}
