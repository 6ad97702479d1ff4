package chat

import (
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Log is the conversation as entries: the items of a transcript. It applies events as
// they arrive, and can prepend pages of older ones.
type Log struct {
	events     []pawl.Event // that were applied, without pieces; for when older ones are prepended
	transcript *transcript.Transcript
	byID       map[string]*Entry
	entries    []*Entry // those with a place in the conversation, in order
	todos      []*Entry // the todo lists, in order
	asks       map[pawl.CallID]*Entry
	subagents  map[pawl.CallID][]*Entry
	running    map[string]*Entry // calls whose time is shown
	shells     map[string]*Entry // unfinished commands of the user
	retry      *Entry            // the note about the pending retry
	session    state
}

// state is what is known of the session besides the items.
type state struct {
	turnOpen bool
	turnEnd  pawl.Seq      // of the last turn
	replyAt  time.Time     // when the last reply started
	settings pawl.Settings // of the last prompt, with the current mode
	usage    pawl.Usage    // of the last reply
	title    string
	aside    map[pawl.Seq]bool // prompts that were sent during a turn
}

// NewLog returns an empty log.
func NewLog() *Log {
	l := &Log{}
	l.Read(nil)
	return l
}

// First returns the oldest applied event; 1 means that there are no older ones.
func (l *Log) First() pawl.Seq {
	for _, e := range l.events {
		if e.Seq > 0 {
			return e.Seq
		}
	}
	return 0
}

// Last returns the newest applied event.
func (l *Log) Last() pawl.Seq {
	for _, e := range slices.Backward(l.events) {
		if e.Seq > 0 {
			return e.Seq
		}
	}
	return 0
}

// Todos returns the model's todo list.
func (l *Log) Todos() []pawl.Todo {
	if n := len(l.todos); n > 0 {
		return l.todos[n-1].Todos
	}
	return nil
}

// Working reports whether a turn is running, or a shell command of the user runs or
// waits.
func (l *Log) Working() bool { return l.session.turnOpen || len(l.shells) > 0 }

// Settings returns the settings of the last prompt, with the current mode.
func (l *Log) Settings() pawl.Settings { return l.session.settings }

// Usage returns the usage of the last reply, which shows how full the context window
// is.
func (l *Log) Usage() pawl.Usage { return l.session.usage }

// Title returns the session's title, or "".
func (l *Log) Title() string { return l.session.title }

// LastReply returns the text of the last reply, for the clipboard.
func (l *Log) LastReply() string {
	for _, e := range slices.Backward(l.entries) {
		if e.Kind == transcript.KindText {
			return sanitizeCopy(e.Text)
		}
	}
	return ""
}

// Entries returns the entries that have a place in the conversation, oldest first.
func (l *Log) Entries() []*Entry { return l.entries }

// Items returns the items of the conversation, in order.
func (l *Log) Items() []transcript.Item { return l.transcript.Items() }

// Missed reports whether a delta was missed since the last call.
func (l *Log) Missed() bool { return l.transcript.Missed() }

// observe applies an event to the state.
func (s *state) observe(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		s.settings = b.Settings
		if s.turnOpen {
			if s.aside == nil {
				s.aside = map[pawl.Seq]bool{}
			}
			s.aside[e.Seq] = true
		}
	case pawl.ModeChanged:
		s.settings.Mode = b.Mode
	case pawl.TurnStarted:
		s.turnOpen = true
	case pawl.TurnFinished:
		s.turnOpen, s.turnEnd = false, e.Seq
	case pawl.ReplyStarted:
		s.replyAt = e.At
	case pawl.Replied:
		s.usage = b.Usage
	case pawl.SessionTitled:
		s.title = b.Title
	default:
	}
}

// put shows an item that is new or has changed.
func (l *Log) put(it *transcript.Item, e *Entry) {
	if e.Item != nil && (it.Seq != e.seq || it.Part != e.part) {
		l.displace(e)
	}
	e.Item = it
	e.changed()
	l.byID[it.ID] = e
	l.place(e)
}

// placed reports whether an item has a place in the conversation. Asks and subagents
// are shown in the cards of their calls, and prompts that wait for the end of a turn
// above the editor.
func (l *Log) placed(it *transcript.Item) bool {
	switch it.Kind {
	case transcript.KindAsk, transcript.KindSubagent, transcript.KindTodos:
		return false
	case transcript.KindUser:
		return it.State != transcript.StateWaiting || !l.session.aside[it.Seq]
	default:
		return true
	}
}

// place shows an entry where it belongs.
func (l *Log) place(e *Entry) {
	switch e.Kind {
	case transcript.KindTodos:
		l.todos = e.insert(l.todos)
	case transcript.KindAsk:
		l.asks[e.Ask.Call] = e
		l.callChanged(e.Ask.Call)
	case transcript.KindSubagent:
		l.subagents[e.Subagent.Call] = e.insert(l.subagents[e.Subagent.Call])
		l.callChanged(e.Subagent.Call)
	default:
		if l.placed(e.Item) {
			l.entries = e.insert(l.entries)
		}
		l.track(e)
	}
}

// track notes calls and retries that are in progress.
func (l *Log) track(e *Entry) {
	if e.Call != nil {
		mark(l.running, e, e.State == transcript.StateRunning && e.Seq > l.session.turnEnd)
		mark(l.shells, e, e.Call.User && e.Call.Status == "")
	}
	if e.Until.After(e.At) {
		l.retry = e
	} else if l.retry == e {
		l.retry = nil
	}
}

func mark(set map[string]*Entry, e *Entry, in bool) {
	if in {
		set[e.ID] = e
	} else {
		delete(set, e.ID)
	}
}

func (l *Log) callChanged(id pawl.CallID) {
	if e := l.byID[transcript.CallID(id)]; e != nil {
		e.changed()
	}
}

// displace takes an entry from its place.
func (l *Log) displace(e *Entry) {
	switch e.Kind {
	case transcript.KindTodos:
		l.todos = e.take(l.todos)
	case transcript.KindAsk:
		delete(l.asks, e.Ask.Call)
	case transcript.KindSubagent:
		l.subagents[e.Subagent.Call] = e.take(l.subagents[e.Subagent.Call])
	default:
		l.entries = e.take(l.entries)
	}
}

func (l *Log) remove(id string) {
	e := l.byID[id]
	if e == nil {
		return
	}
	delete(l.byID, id)
	delete(l.running, id)
	delete(l.shells, id)
	if l.retry == e {
		l.retry = nil
	}
	l.displace(e)
}
