package chat

import "github.com/pawl-dev/pawl"

// callEvent applies the events of tool calls.
func (l *Log) callEvent(ev pawl.Event) {
	switch b := ev.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.CallStarted:
		l.callStarted(ev, b)
	case pawl.Progress:
		if c := l.calls[b.Call]; c != nil {
			c.Call.Output.add(b.Text)
			c.changed()
		}
	case pawl.Asked:
		l.callAsked(ev, b)
	case pawl.Answered:
		l.callAnswered(b)
	case pawl.CallFinished:
		l.callFinished(ev, b)
	case pawl.Spawned:
		if c := l.calls[b.Call]; c != nil {
			c.Call.Subagents = append(c.Call.Subagents, b)
			l.subagents[b.Subagent] = c
			c.changed()
		}
	}
}

// callEntry returns the entry of a call, which may have begun before the oldest known
// event.
func (l *Log) callEntry(ev pawl.Event, id pawl.CallID) *Entry {
	e := l.calls[id]
	if e == nil {
		e = l.add(&Entry{Kind: Call, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Call: &CallView{ID: id}})
		l.calls[id] = e
	}
	return e
}

func (l *Log) callStarted(ev pawl.Event, b pawl.CallStarted) {
	e := l.callEntry(ev, b.Call)
	e.Call.Tool, e.Call.Started, e.Call.Unsafe = b.Tool, ev.At, b.Unsafe
	if len(b.Input) > 0 {
		e.Call.Input = b.Input
	}
	l.running[b.Call] = e
	e.changed()
}

func (l *Log) callFinished(ev pawl.Event, b pawl.CallFinished) {
	e := l.callEntry(ev, b.Call)
	e.Call.Status, e.Call.Result, e.Call.Ended, e.Call.Asking = b.Status, b.Result, ev.At, nil
	for _, subagent := range e.Call.Subagents {
		if !subagent.Background {
			e.Call.end(subagent.Subagent)
		}
	}
	delete(l.running, b.Call)
	e.changed()
}

func (l *Log) callAsked(ev pawl.Event, b pawl.Asked) {
	l.asks[ev.Seq] = b
	if c := l.calls[b.Call]; c != nil {
		c.Call.Asking = &b
		c.changed()
	}
}

func (l *Log) callAnswered(b pawl.Answered) {
	ask, ok := l.asks[b.Ask]
	delete(l.asks, b.Ask)
	if c := l.calls[ask.Call]; ok && c != nil {
		c.Call.Asking, c.Call.Answer = nil, &b
		c.changed()
	}
}
