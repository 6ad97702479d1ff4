package pawl

import (
	"fmt"
	"slices"
	"strings"
)

// compact replaces the messages before a given one by a summary.
func (h *History) compact(e Event, b Compacted) error {
	if b.Asked != 0 {
		if _, err := h.takeOrder(b.Asked); err != nil {
			return err
		}
	}
	steps := 0
	if h.open != nil {
		if err := h.betweenSteps(); err != nil {
			return err
		}
		steps = len(h.open.Steps)
		h.open.Usage = h.open.Usage.Add(b.Usage)
	}
	if b.Model != "" {
		h.compactions++
	}
	h.compaction = &Compaction{Seq: e.Seq, Turn: h.turns, Step: steps, Compacted: b}
	if b.Keep == 0 {
		return nil
	}
	// Match exactly: an earlier summary has a higher Seq than the messages after it.
	from := slices.IndexFunc(h.messages, func(m Message) bool { return m.Seq == b.Keep })
	if from < 0 { // nothing is kept
		from = len(h.messages)
	}
	if from < len(h.messages) && h.messages[from].Role == RoleTool {
		return fmt.Errorf("the tool results at %d would be kept without their calls", b.Keep)
	}
	// A new slice, so that the replaced messages can be freed.
	kept := h.messages[from:]
	h.messages = make([]Message, 0, 2*len(kept)+1)
	h.add(e.Seq, RoleUser, Parts{Text{b.Text}})
	h.messages = append(h.messages, kept...)
	return nil
}

func (h *History) askUndo(e Event, b UndoAsked) error {
	switch {
	case h.open != nil || len(h.waiting) > 0 || len(h.orders) > 0:
		return fmt.Errorf("the session is not idle")
	case (b.To == 0) == (b.Redo == 0), b.To >= e.Seq, b.Redo >= e.Seq:
		return fmt.Errorf("nothing to undo or redo")
	}
	h.orders = append(h.orders, Order{Seq: e.Seq, Body: b})
	return nil
}

// undo records what can be redone. Fold has already removed the undone events from
// the conversation.
func (h *History) undo(e Event, b Undone) error {
	taken, err := h.takeOrder(b.Asked)
	if err != nil {
		return err
	}
	order, ok := taken.Body.(UndoAsked)
	if !ok {
		return fmt.Errorf("request %d is not an undo or redo", b.Asked)
	}
	if b.Refused != "" {
		return nil
	}
	if order.Redo == 0 {
		h.undos = append(h.undos, redoable{e.Seq, order.Undo})
	} else {
		last := len(h.undos) - 1
		if last < 0 || h.undos[last].seq != order.Redo {
			return fmt.Errorf("%d is not the latest undo", order.Redo)
		}
		h.undos = h.undos[:last:last]
	}
	if order.Scope == ScopeFiles && len(b.Changed) > 0 {
		h.add(e.Seq, RoleUser, Parts{Text{filesChanged(order.Undo, b.Changed)}})
	}
	return nil
}

// namedFiles limits how many files a message to the model lists.
const namedFiles = 50

// filesChanged returns the message that tells the model which files changed.
func filesChanged(r Undo, files []string) string {
	what := "put these files back to what they were at an earlier point of this conversation"
	if r.Redo != 0 {
		what = "redid the changes to these files"
	}
	more := ""
	if n := len(files) - namedFiles; n > 0 {
		files, more = files[:namedFiles], fmt.Sprintf(" and %d more", n)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = fmt.Sprintf("%.200q", f) // a file name may contain anything
	}
	return fmt.Sprintf("[The user has %s: %s%s. Look at them again before you change them.]", what, strings.Join(names, ", "), more)
}

// takeOrder removes a request that is carried out.
func (h *History) takeOrder(seq Seq) (Order, error) {
	i := slices.IndexFunc(h.orders, func(o Order) bool { return o.Seq == seq })
	if i < 0 {
		return Order{}, fmt.Errorf("request %d not found", seq)
	}
	order := h.orders[i]
	h.orders = slices.Delete(slices.Clone(h.orders), i, i+1) // callers may hold the slice
	return order, nil
}
