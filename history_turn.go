package pawl

import (
	"fmt"
	"slices"
)

func (h *History) startTurn(e Event, b TurnStarted) error {
	prompt, err := h.take(b.Prompt)
	if err != nil {
		return err
	}
	if h.open != nil {
		return fmt.Errorf("turn %d is still open", h.open.Number)
	}
	if slices.ContainsFunc(h.orders, func(o Order) bool { return o.Started != nil }) {
		return fmt.Errorf("a shell command of the user has not ended")
	}
	h.turns++
	h.undos = nil
	if h.mission != nil {
		if err := h.mission.startTurn(prompt); err != nil {
			return err
		}
	}
	h.open = &OpenTurn{Number: h.turns, Prompt: prompt.Seq, By: prompt.Prompt.By, Began: e.At, Settings: prompt.Prompt.Settings}
	h.add(e.Seq, RoleUser, prompt.Prompt.Parts)
	return nil
}

func (h *History) inject(e Event, b Injected) error {
	if err := h.betweenSteps(); err != nil {
		return err
	}
	parts := Parts{Text{b.Text}}
	if b.Subagent != "" {
		i := slices.Index(h.open.Pending, b.Subagent)
		if i < 0 {
			return fmt.Errorf("the turn does not wait for subagent %s", b.Subagent)
		}
		h.open.Pending = slices.Delete(slices.Clone(h.open.Pending), i, i+1) // callers may hold the slice
	}
	if b.Prompt != 0 {
		prompt, err := h.take(b.Prompt)
		if err != nil {
			return err
		}
		parts = prompt.Prompt.Parts
		h.open.Steered = append(h.open.Steered, prompt)
	}
	h.open.Warned = h.open.Warned || b.Source == "budget"
	if n := len(h.open.Steps); b.Source == "hook" && n > 0 {
		if last := h.open.Steps[n-1]; last.Replied && last.Finish == FinishEndTurn {
			h.open.Kept++
		}
	}
	if b.Source == sourceMission && h.mission != nil {
		h.mission.News = nil
		h.mission.Nudges++
	}
	h.open.Injected = append(h.open.Injected, b.Source)
	h.add(e.Seq, RoleUser, parts)
	return nil
}

func (h *History) startReply(e Event, b ReplyStarted) error {
	if err := h.betweenSteps(); err != nil {
		return err
	}
	n := len(h.open.Steps)
	if b.Step != n+1 || n > 0 && !h.open.Steps[n-1].Replied {
		return fmt.Errorf("step %d is not the next step", b.Step)
	}
	if n > 0 {
		h.settle(h.open.Steps[n-1].Calls)
	}
	h.open.Steps = append(h.open.Steps, Step{Started: e.Seq})
	h.open.Injected, h.open.Asked = nil, nil
	return nil
}

func (h *History) reply(e Event, b Replied) error {
	if h.open == nil || b.Step < 1 || b.Step != len(h.open.Steps) || h.open.Steps[b.Step-1].Replied {
		return fmt.Errorf("step %d does not wait for a reply", b.Step)
	}
	calls := b.Parts.Calls()
	h.replies++
	step := &h.open.Steps[b.Step-1]
	step.Replied, step.Finish = true, b.Finish
	h.open.Usage = h.open.Usage.Add(b.Usage)
	h.add(e.Seq, RoleAssistant, b.Parts)
	if len(calls) == 0 {
		return nil
	}
	for i, c := range calls {
		if h.CallIDUsed(c.ID) {
			return fmt.Errorf("call id %s is used twice", c.ID)
		}
		h.useCallID(c.ID, &CallState{Call: c, message: len(h.messages), slot: i})
		step.Calls = append(step.Calls, c.ID)
	}
	h.add(e.Seq, RoleTool, make(Parts, len(calls)))
	return nil
}

func (h *History) finishCall(b CallFinished) error {
	call, err := h.unfinished(b.Call)
	if err != nil {
		return err
	}
	call.Finished = true
	for path, hash := range b.Result.Seen {
		if h.seen == nil {
			h.seen = map[string]string{}
		}
		h.seen[path] = hash
	}
	h.messages[call.message].Parts[call.slot] = ToolResult{
		Call: b.Call, Content: b.Result.Content, Files: b.Result.Files, IsError: b.Result.IsError,
	}
	return nil
}

func (h *History) finishTurn() error {
	if err := h.betweenSteps(); err != nil {
		return err
	}
	h.closeTurn()
	return nil
}

func (h *History) closeTurn() {
	if h.open == nil {
		return
	}
	for _, step := range h.open.Steps {
		if !step.Replied {
			continue
		}
		for _, id := range step.Calls {
			h.calls[id] = nil // the ID remains used
		}
	}
	h.open = nil
}

// betweenSteps returns an error unless a turn is open and each call of its newest
// step has a result.
func (h *History) betweenSteps() error {
	if h.open == nil {
		return fmt.Errorf("no turn is open")
	}
	if len(h.open.Steps) == 0 {
		return nil
	}
	for _, id := range h.open.Steps[len(h.open.Steps)-1].Calls {
		if !h.calls[id].Finished {
			return fmt.Errorf("call %s has no result", id)
		}
	}
	return nil
}

// add appends a message unless it has no parts.
func (h *History) add(seq Seq, role Role, parts Parts) {
	if len(parts) > 0 {
		h.messages = append(h.messages, Message{seq, role, parts})
	}
}
