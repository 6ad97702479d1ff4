package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// session applies the events outside of turns.
func (t *Transcript) session(c *Change, e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.ModeChanged:
		t.note(c, e, Item{Text: "Permission mode: " + b.Mode})
	case pawl.SessionShared:
		text := "Sharing ended"
		if len(b.With) > 0 {
			text = "Shared with " + strings.Join(names(b.With), ", ")
		}
		t.note(c, e, Item{Text: text, By: b.By})
	case pawl.CompactionAsked:
		t.note(c, e, Item{Text: "Compacting the conversation", More: b.Instructions})
	case pawl.Compacted:
		t.note(c, e, CompactionNote(b))
	case pawl.UndoAsked:
		if t.undone.orders == nil {
			t.undone.orders = map[pawl.Seq]pawl.UndoAsked{}
		}
		t.undone.orders[e.Seq] = b
	case pawl.Undone:
		t.note(c, e, UndoNote(t.undo(c, e.Seq, b), b))
	case pawl.Status:
		it := Item{Text: b.Message}
		if b.State == "interrupted" {
			it.Level, it.Next = LevelBad, "The session is saved. Send a prompt, or run `pawl resume`, to continue."
		}
		t.note(c, e, it)
	}
}

func names(users []pawl.User) []string {
	var list []string
	for _, u := range users {
		list = append(list, string(u))
	}
	return list
}

// CompactionNote returns the texts of a note about a compaction.
func CompactionNote(b pawl.Compacted) Item {
	if b.Keep == 0 {
		return Item{Level: LevelWarn, Text: "Not compacted: " + b.Message}
	}
	text := fmt.Sprintf("Compacted from %s to %s tokens", humanize.Short(int64(b.Before)), humanize.Short(int64(b.After)))
	if b.Message != "" {
		text += "; " + b.Message
	}
	return Item{Text: text, More: b.Text}
}

// UndoNote returns the texts of a note about an undo or redo.
func UndoNote(order pawl.UndoAsked, b pawl.Undone) Item {
	if b.Refused != "" {
		return Item{Level: LevelWarn, Text: "Not undone: " + b.Refused}
	}
	text := "Undone"
	if order.Redo != 0 {
		text = "Redone"
	}
	if n := len(b.Changed); n > 0 {
		text += fmt.Sprintf(", %s restored", humanize.Plural(n, "file"))
	}
	for _, path := range slices.Sorted(maps.Keys(b.Aside)) {
		text += fmt.Sprintf("; %s had other changes, which are in %s", path, b.Aside[path])
	}
	if len(b.Left) > 0 {
		text += "; left unchanged: " + strings.Join(b.Left, ", ")
	}
	return Item{Text: text, More: strings.Join(b.Changed, "\n"), By: order.By}
}

// reasons describes why turns end early, and what the user can do.
var reasons = map[pawl.Reason]struct{ text, next string }{
	pawl.ReasonMaxSteps:         {"Step limit reached", "Send a prompt to continue, or restart with a higher --max-steps."},
	pawl.ReasonMaxTokens:        {"Output limit reached", "Send a prompt to continue. The reply reached the model's output limit."},
	pawl.ReasonBudget:           {"Budget reached", "Send a prompt to continue, or restart with a higher --max-cost."},
	pawl.ReasonLoop:             {"Loop detected", "Send a prompt with different instructions."},
	pawl.ReasonPermissionDenied: {"Permission denied", "Allow it, choose another permission mode, or send different instructions."},
}

// TurnEnd returns the texts of the end of a turn.
func TurnEnd(b pawl.TurnFinished) Item {
	switch b.Reason {
	case pawl.ReasonEndTurn:
		return Item{Text: "Done"}
	case pawl.ReasonCanceled:
		return Item{Level: LevelWarn, Text: "Canceled"}
	case pawl.ReasonError:
		next := "The session is saved. Run `pawl doctor` to find the problem, then send a prompt to continue."
		if b.Fault == pawl.FaultModel {
			next = "Send the prompt again, or choose another model. Run `pawl doctor` to check keys and providers."
		}
		return Item{Level: LevelBad, Text: b.Message, Next: next}
	default:
		why := reasons[b.Reason]
		text := cmp.Or(why.text, strings.ReplaceAll(string(b.Reason), "_", " "))
		if b.Message != "" {
			text += ": " + b.Message
		}
		return Item{Level: LevelWarn, Text: text, Next: why.next}
	}
}

// turnFinished ends the turn.
func (t *Transcript) turnFinished(c *Change, e pawl.Event, b pawl.TurnFinished) {
	it := TurnEnd(b)
	it.ID, it.Kind, it.Seq, it.Turn, it.At, it.State = eventID(KindTurnEnd, e), KindTurnEnd, e.Seq, e.Turn, e.At, StateDone
	if b.Reason == pawl.ReasonError {
		it.State = StateFailed
	}
	it.End = &End{Reason: b.Reason, Fault: b.Fault, Steps: b.Steps, Usage: b.Usage}
	if !t.turnAt.IsZero() && e.At.After(t.turnAt) {
		it.Took = e.At.Sub(t.turnAt)
	}
	t.endRetry(c)
	t.settle(c)
	t.endSubagents(c, func(it *Item) bool { return it.Turn == e.Turn }) // no turn ends before them
	t.put(c, it)
}
