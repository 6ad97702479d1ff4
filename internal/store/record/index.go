package record

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// Index is the change to the search index by an append.
type Index struct {
	Texts  []Text
	Hidden []Hidden
	Shown  []pawl.Seq // the Hidden.By of what is shown again
}

// Empty reports whether nothing changes.
func (x Index) Empty() bool { return len(x.Texts)+len(x.Hidden)+len(x.Shown) == 0 }

// Text is the text of one event.
type Text struct {
	Seq     pawl.Seq
	Message pawl.Seq // the message that has the text; 0 for titles
	Words   string   // separated by spaces
}

// Hidden hides older texts of these messages from searches.
type Hidden struct {
	By          pawl.Seq // the event that hides them
	First, Last pawl.Seq
}

// IndexKinds lists the events that change the search index.
var IndexKinds = []pawl.Kind{
	pawl.KindOf(pawl.Prompted{}), pawl.KindOf(pawl.Reworded{}), pawl.KindOf(pawl.Withdrawn{}), pawl.KindOf(pawl.Replied{}),
	pawl.KindOf(pawl.SessionTitled{}), pawl.KindOf(pawl.Undone{}),
}

// SearchText returns the text of an event that searches find, and the message that has it,
// 0 for a title: what users and agents wrote, and titles.
func SearchText(e pawl.Event) (text string, message pawl.Seq) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		return b.Parts.Text(), e.Seq
	case pawl.Reworded:
		return b.Parts.Text(), b.Prompt
	case pawl.Replied:
		return b.Parts.Text(), e.Seq
	case pawl.SessionTitled:
		return b.Title, 0
	default:
		return "", 0
	}
}

// IndexOf returns the change to the index by an event of an existing log.
func IndexOf(e pawl.Event, undo func(pawl.Seq) (pawl.Undo, error)) (Index, error) {
	return newIndex([]pawl.Event{e}, undo)
}

// newIndex returns the change to the index by events; see [NewBatch].
func newIndex(events []pawl.Event, undo func(pawl.Seq) (pawl.Undo, error)) (Index, error) {
	var x Index
	for _, e := range events {
		text, message := SearchText(e)
		if words := joined(text); words != "" {
			x.Texts = append(x.Texts, Text{e.Seq, message, words})
		}
		switch b := e.Body.(type) {
		case pawl.SessionTitled:
			x.Hidden = append(x.Hidden, Hidden{e.Seq, 0, 0})
		case pawl.Reworded:
			x.Hidden = append(x.Hidden, Hidden{e.Seq, b.Prompt, b.Prompt})
		case pawl.Withdrawn:
			x.Hidden = append(x.Hidden, Hidden{e.Seq, b.Prompt, b.Prompt})
		case pawl.Undone:
			if b.Refused != "" {
				continue
			}
			order, err := undoOf(events, b.Asked, undo)
			if err != nil {
				return x, err
			}
			if order.Redo != 0 {
				x.show(order.Redo)
			} else if order.Scope.Conversation() {
				x.Hidden = append(x.Hidden, Hidden{e.Seq, order.To, b.Asked - 1})
			}
		default: // hides nothing
		}
	}
	return x, nil
}

// show undoes what an Undone event has hidden.
func (x *Index) show(by pawl.Seq) {
	for i, h := range x.Hidden {
		if h.By == by { // in the same append
			x.Hidden = append(x.Hidden[:i], x.Hidden[i+1:]...)
			return
		}
	}
	x.Shown = append(x.Shown, by)
}

// undoOf returns the request of an UndoAsked event.
func undoOf(events []pawl.Event, asked pawl.Seq, undo func(pawl.Seq) (pawl.Undo, error)) (pawl.Undo, error) {
	for _, e := range events {
		if b, ok := e.Body.(pawl.UndoAsked); ok && e.Seq == asked {
			return b.Undo, nil
		}
	}
	return undo(asked)
}

// NoUndo is the request of an UndoAsked event that does not exist. It changes no index.
var NoUndo = pawl.Undo{Redo: -1}

// UndoIn returns the request of a row if it is an UndoAsked event, else NoUndo.
func UndoIn(r Row) (pawl.Undo, error) {
	body, err := r.Kind.Decode(r.Version, r.Data)
	if b, ok := body.(pawl.UndoAsked); err == nil && ok {
		return b.Undo, nil
	}
	return NoUndo, err
}

// joined returns the words of a text, separated by spaces.
func joined(text string) string {
	var b strings.Builder
	for i, w := range splitWords(indexed(text)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// Found sets the match of a row: e is the event that a search has found.
func Found(s *pawl.Session, search Search, e pawl.Event) {
	text, message := SearchText(e)
	if message == 0 {
		message = e.Seq
	}
	s.Match = &pawl.Match{Seq: message, Snippet: search.Snippet(text)}
}

// Readable returns the event of a row or, if it cannot be read, one that changes no index.
func Readable(id pawl.SessionID, r Row) pawl.Event {
	e, err := r.Event(id)
	if err != nil {
		return pawl.Event{Session: id, Seq: r.Seq, Body: pawl.TodosSet{}}
	}
	return e
}
