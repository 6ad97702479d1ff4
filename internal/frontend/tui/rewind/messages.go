package rewind

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Message is a message of the user that can be rewound to.
type Message struct {
	Seq     pawl.Seq // the event with which the model read it
	At      time.Time
	Parts   pawl.Parts
	Steered bool // it was read during a running turn
}

// maxMessages bounds the list. 'pawl session rewind' lists all.
const maxMessages = 500

// read returns the messages that were not undone, newest first.
func read(ctx context.Context, svc pawl.Service, id pawl.SessionID) ([]Message, error) {
	s, err := svc.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var kept []pawl.Event // the rest of the log may be long
	for e, err := range svc.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq > 0 && matters(e.Body) {
			kept = append(kept, e)
		}
		if e.Seq >= s.Head {
			break
		}
	}
	list := messagesOf(kept)
	slices.Reverse(list)
	return list[:min(len(list), maxMessages)], nil
}

// matters reports whether an event is relevant for the list.
func matters(b pawl.Body) bool {
	switch b.(type) {
	case pawl.Prompted, pawl.Reworded, pawl.TurnStarted, pawl.Injected, pawl.UndoAsked, pawl.Undone:
		return true
	default:
		return false
	}
}

// messagesOf returns the user's messages among events, oldest first, without undone
// ones.
func messagesOf(events []pawl.Event) []Message {
	var list []Message
	t := transcript.New()
	t.Load(events)
	for it := range t.All() {
		if it.Kind != transcript.KindUser || it.State == transcript.StateWaiting {
			continue
		}
		m := Message{Seq: it.Seq, At: it.At, Parts: pawl.Parts{pawl.Text{Text: it.Text}}, Steered: it.Steered}
		for _, f := range it.Files {
			m.Parts = append(m.Parts, f)
		}
		list = append(list, m)
	}
	return list
}
