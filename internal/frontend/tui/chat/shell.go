package chat

import (
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// shellEvent applies the events of the user's shell commands. Each is a card, which
// moves to where the command starts to run.
func (l *Log) shellEvent(ev pawl.Event) {
	switch b := ev.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.ShellAsked:
		e := l.shellEntry(ev, ev.Seq)
		e.Call.Input, _ = json.Marshal(map[string]string{"command": b.Command}) // a map of strings cannot fail
	case pawl.ShellStarted:
		e := l.shellEntry(ev, b.Asked)
		l.drop(e)
		e.Seq, e.Turn, e.Call.Started, e.Call.Unsafe = ev.Seq, ev.Turn, ev.At, b.Unsafe
		l.running[e.Call.ID] = l.add(e)
		e.changed()
	case pawl.ShellRan:
		e := l.shellEntry(ev, b.Asked)
		l.callFinished(ev, pawl.CallFinished{Call: e.Call.ID, Status: b.Status, Result: b.Result})
		delete(l.shells, e.Call.ID)
	}
}

// shellEntry returns the entry of a command, which may have been sent before the
// oldest known event.
func (l *Log) shellEntry(ev pawl.Event, asked pawl.Seq) *Entry {
	e := l.callEntry(ev, asked.ShellCall())
	e.Call.Tool, e.Call.UserCommand = "bash", true
	l.shells[e.Call.ID] = e
	return e
}

// prependShell merges a command of an older page; entry is nil if no known event is
// about it. The older page has its input, this one its position.
func (l *Log) prependShell(older *Log, begun, entry *Entry) {
	id := begun.Call.ID
	if entry == nil {
		l.calls[id] = begun
		if _, open := older.shells[id]; open {
			l.shells[id] = begun
		}
		if begun.Call.Running() {
			l.running[id] = begun
		}
		return
	}
	entry.Call.Input = begun.Call.Input
	if c := begun.Call; !c.Started.IsZero() {
		entry.Seq, entry.Call.Started, entry.Call.Unsafe = begun.Seq, c.Started, c.Unsafe
	}
	entry.changed()
	older.drop(begun)
}
