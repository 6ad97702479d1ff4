package rewind

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
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
	words := map[pawl.Seq]pawl.Parts{}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			words[e.Seq] = b.Parts
		case pawl.Reworded:
			words[b.Prompt] = b.Parts
		case pawl.TurnStarted:
			list = append(list, Message{Seq: e.Seq, At: e.At, Parts: words[b.Prompt]})
		case pawl.Injected:
			if b.Prompt != 0 {
				list = append(list, Message{Seq: e.Seq, At: e.At, Parts: words[b.Prompt], Steered: true})
			}
		default:
		}
	}
	return list
}
