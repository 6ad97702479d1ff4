package chat

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// Log is the conversation as entries. It applies events as they arrive, and can
// prepend pages of older ones.
type Log struct {
	entries      []*Entry
	calls        map[pawl.CallID]*Entry
	running      map[pawl.CallID]*Entry
	shells       map[pawl.CallID]*Entry    // unfinished commands of the user
	subagents    map[pawl.SessionID]*Entry // the calls that started them
	prompts      map[pawl.Seq]*Entry
	asks         map[pawl.Seq]pawl.Asked // unanswered
	undoneSpans  []span                  // ranges of undone events
	redoneSeqs   map[pawl.Seq]bool       // undos that were redone
	undoRequests map[pawl.Seq]pawl.Undo

	reply     pawl.Seq  // ReplyStarted of the streamed reply
	gap       bool      // a delta of it was missed
	replyAt   time.Time // when it started
	streaming map[pawl.Channel]*Entry
	offsets   map[pawl.Channel]int

	first, last pawl.Seq // of the applied events
	todos       []pawl.Todo
	turnOpen    bool
	turnAt      time.Time     // when the turn started; zero means unknown
	retrying    *pawl.Retried // the pending retry
	retry       *Entry        // the note about it
	mode        string
	settings    pawl.Settings // of the last prompt
	usage       pawl.Usage    // of the last reply
	total       pawl.Usage    // of the applied replies
	title       string
	version     int
}

// NewLog returns an empty log.
func NewLog() *Log {
	return &Log{
		calls: map[pawl.CallID]*Entry{}, running: map[pawl.CallID]*Entry{}, shells: map[pawl.CallID]*Entry{}, subagents: map[pawl.SessionID]*Entry{},
		prompts: map[pawl.Seq]*Entry{}, asks: map[pawl.Seq]pawl.Asked{}, undoRequests: map[pawl.Seq]pawl.Undo{}, redoneSeqs: map[pawl.Seq]bool{},
		streaming: map[pawl.Channel]*Entry{}, offsets: map[pawl.Channel]int{},
	}
}

// First returns the oldest applied event; 1 means that there are no older ones.
func (l *Log) First() pawl.Seq { return l.first }

// Last returns the newest applied event.
func (l *Log) Last() pawl.Seq { return l.last }

// Todos returns the model's todo list.
func (l *Log) Todos() []pawl.Todo { return l.todos }

// Working reports whether a turn is running, or a shell command of the user runs or
// waits.
func (l *Log) Working() bool { return l.turnOpen || len(l.shells) > 0 }

// Retrying returns the pending retry, or nil.
func (l *Log) Retrying() *pawl.Retried { return l.retrying }

// Settings returns the settings of the last prompt, with the current mode.
func (l *Log) Settings() pawl.Settings {
	s := l.settings
	if l.mode != "" {
		s.Mode = l.mode
	}
	return s
}

// Usage returns the usage of the last reply, which shows how full the context window
// is.
func (l *Log) Usage() pawl.Usage { return l.usage }

// Title returns the session's title, or "".
func (l *Log) Title() string { return l.title }

// Asks returns the unanswered asks, oldest first.
func (l *Log) Asks() []pawl.Seq {
	var seqs []pawl.Seq
	for seq := range l.asks {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// Ask returns an unanswered ask.
func (l *Log) Ask(seq pawl.Seq) (pawl.Asked, bool) {
	a, ok := l.asks[seq]
	return a, ok
}

// LastReply returns the text of the last reply, for the clipboard.
func (l *Log) LastReply() string {
	for _, e := range slices.Backward(l.entries) {
		if e.Kind == Reply {
			return sanitizeCopy(e.text())
		}
	}
	return ""
}

// Entries returns the entries that are not undone, oldest first.
func (l *Log) Entries() []*Entry { return l.entries }

// Prepend applies a page of older events.
func (l *Log) Prepend(events []pawl.Event) {
	older := NewLog()
	older.redoneSeqs = l.redoneSeqs
	older.Read(events)
	older.settle()
	for id, begun := range older.calls {
		entry, ok := l.calls[id]
		switch {
		case begun.Call.UserCommand:
			l.prependShell(older, begun, entry)
			continue
		case ok: // it started in the older page and ended in this one
			begun.join(entry)
			l.drop(entry)
			if _, runs := l.running[id]; runs {
				l.running[id] = begun
			}
		case begun.Call.Running() && l.turnOpen:
			l.running[id] = begun
		}
		l.calls[id] = begun
	}
	for id, entry := range older.subagents {
		l.subagents[id] = entry
	}
	for seq, entry := range older.prompts {
		if taken, ok := l.prompts[seq]; ok && taken.Text == "" { // a known event has already placed it
			taken.Text, taken.Files = entry.Text, entry.Files
			taken.changed()
			older.drop(entry)
		}
	}
	l.entries = append(older.entries, l.entries...)
	l.first = older.first
	if l.title == "" {
		l.title = older.title
	}
	if l.todos == nil {
		l.todos = older.todos
	}
	if l.settings.Model == "" {
		l.settings = older.settings
	}
	l.hide()
	l.version++
}

// join merges what is known of the end of the same call.
func (e *Entry) join(end *Entry) {
	c, other := e.Call, end.Call
	c.Status, c.Result, c.Ended, c.Output = other.Status, other.Result, other.Ended, other.Output
	c.Subagents = append(c.Subagents, other.Subagents...)
	c.Asking, c.Answer = other.Asking, other.Answer
	if c.Tool == "" {
		c.Tool = other.Tool
	}
	if c.Started.IsZero() {
		c.Started, c.Unsafe = other.Started, other.Unsafe
	}
	for subagent := range other.DoneSubagents {
		c.end(subagent)
	}
	e.changed()
}

// end records that a subagent is done.
func (c *CallView) end(subagent pawl.SessionID) {
	if c.DoneSubagents == nil {
		c.DoneSubagents = map[pawl.SessionID]bool{}
	}
	c.DoneSubagents[subagent] = true
}

// settle closes what a page leaves open.
func (l *Log) settle() {
	for _, e := range l.streaming {
		e.Text, e.Streaming = e.streamed.String(), false
		e.changed()
	}
	clear(l.streaming)
}

func (l *Log) add(e *Entry) *Entry {
	l.entries = append(l.entries, e)
	return e
}

// drop removes an entry. It searches from the end.
func (l *Log) drop(e *Entry) {
	for i := len(l.entries) - 1; e != nil && i >= 0; i-- {
		if l.entries[i] == e {
			l.entries = slices.Delete(l.entries, i, i+1)
			return
		}
	}
}

func (l *Log) note(ev pawl.Event, tone Tone, format string, args ...any) *Entry {
	return l.add(&Entry{Kind: Note, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Tone: tone, Text: fmt.Sprintf(format, args...)})
}
