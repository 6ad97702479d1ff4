package chat

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Apply applies an event, and returns the items that it changed. Events of the log must
// come in order.
func (l *Log) Apply(e pawl.Event) []transcript.Item {
	l.keep(e)
	l.session.observe(e)
	c := l.transcript.Apply(e)
	for i := range c.Items {
		id := c.Items[i].ID
		e := l.byID[id]
		if e == nil {
			e = &Entry{}
		}
		l.put(l.transcript.Get(id), e)
	}
	for _, id := range c.Removed {
		l.remove(id)
	}
	for _, a := range c.Appended {
		l.byID[a.ID].changed()
	}
	if _, ok := e.Body.(pawl.TurnFinished); ok {
		clear(l.running)
	}
	return c.Items
}

// keep keeps an event. Of the pieces of a reply the first one tells how long the
// reasoning took; the transcript has the others, and the output of calls.
func (l *Log) keep(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Progress:
		return
	case pawl.Delta:
		if b.Offset > 0 {
			return
		}
	case pawl.ReplyStarted, pawl.TurnFinished: // a reply that is not complete stays as it is
		l.events = append(l.events, l.pieces(l.transcript.Draft())...)
	default:
	}
	l.events = append(l.events, e)
}

// pieces returns a draft as pieces of the reply.
func (l *Log) pieces(d pawl.Draft) []pawl.Event {
	var list []pawl.Event
	at := l.session.replyAt
	if d.Reasoning != "" {
		list = append(list, pawl.Event{At: at, Body: pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelReasoning, Text: d.Reasoning}})
	}
	if d.Text != "" {
		list = append(list, pawl.Event{At: at, Body: pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelText, Text: d.Text}})
	}
	return list
}

// Join merges a draft: the part of the reply from before the session was followed.
func (l *Log) Join(d pawl.Draft) {
	for _, e := range l.pieces(d) {
		l.Apply(e)
	}
}

// Prepend applies a page of older events.
func (l *Log) Prepend(events []pawl.Event) {
	live := l.pieces(l.transcript.Draft())
	for _, e := range l.running {
		live = append(live, pawl.Event{Body: pawl.Progress{Call: e.Call.ID, Text: e.Text}})
	}
	l.Read(slices.Concat(events, l.events))
	for _, e := range live {
		l.Apply(e)
	}
}

// Read replaces the events. Entries that stay keep what the user did with them.
func (l *Log) Read(events []pawl.Event) {
	l.events, l.session = slices.Clip(events), state{}
	for _, e := range events {
		l.session.observe(e)
	}
	l.transcript = transcript.New()
	l.transcript.Load(events)
	known := l.byID
	l.byID, l.entries, l.todos = make(map[string]*Entry, len(events)/2), make([]*Entry, 0, len(events)/2), nil
	l.asks, l.subagents = map[pawl.CallID]*Entry{}, map[pawl.CallID][]*Entry{}
	l.running, l.shells, l.retry = map[string]*Entry{}, map[string]*Entry{}, nil
	var fresh []Entry
	for it := range l.transcript.All() {
		e := known[it.ID]
		if e == nil {
			if len(fresh) == 0 {
				fresh = make([]Entry, 64)
			}
			e, fresh = &fresh[0], fresh[1:]
		}
		e.seq, e.part = it.Seq, it.Part
		l.put(it, e)
	}
}
