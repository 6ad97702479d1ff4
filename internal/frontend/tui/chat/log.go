package chat

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// Log is what events make of a conversation, for the screen. It takes events as
// they come and, before them, pages of older ones.
type Log struct {
	entries      []*Entry
	calls        map[pawl.CallID]*Entry
	running      map[pawl.CallID]*Entry
	shells       map[pawl.CallID]*Entry    // the person's own commands that have no end yet
	subagents    map[pawl.SessionID]*Entry // the calls that they work for
	prompts      map[pawl.Seq]*Entry
	asks         map[pawl.Seq]pawl.Asked // that wait for an answer
	undoneSpans  []span                  // what does not count any more
	redoneSeqs   map[pawl.Seq]bool       // the steps back that were taken back
	undoRequests map[pawl.Seq]pawl.Undo

	reply     pawl.Seq  // the ReplyStarted of what is being written
	gap       bool      // a piece of it did not come
	replyAt   time.Time // when it was
	streaming map[pawl.Channel]*Entry
	offsets   map[pawl.Channel]int

	first, last pawl.Seq // of the events that were applied
	todos       []pawl.Todo
	turnOpen    bool
	turnAt      time.Time     // when it began; zero means that nobody knows
	retrying    *pawl.Retried // for another try
	retry       *Entry        // the note on it
	mode        string
	settings    pawl.Settings // of the newest prompt
	usage       pawl.Usage    // of the newest reply
	total       pawl.Usage    // of the replies that were seen
	title       string
	version     int
}

// NewLog returns an empty one.
func NewLog() *Log {
	return &Log{
		calls: map[pawl.CallID]*Entry{}, running: map[pawl.CallID]*Entry{}, shells: map[pawl.CallID]*Entry{}, subagents: map[pawl.SessionID]*Entry{},
		prompts: map[pawl.Seq]*Entry{}, asks: map[pawl.Seq]pawl.Asked{}, undoRequests: map[pawl.Seq]pawl.Undo{}, redoneSeqs: map[pawl.Seq]bool{},
		streaming: map[pawl.Channel]*Entry{}, offsets: map[pawl.Channel]int{},
	}
}

// First is the oldest event that was applied; 1 means that there are no older ones.
func (l *Log) First() pawl.Seq { return l.first }

// Last is the newest event that was applied.
func (l *Log) Last() pawl.Seq { return l.last }

// Todos returns the list that the model keeps.
func (l *Log) Todos() []pawl.Todo { return l.todos }

// Working reports whether a turn is open, or a command of the person's runs or waits.
func (l *Log) Working() bool { return l.turnOpen || len(l.shells) > 0 }

// Retrying returns what is waited for before the model is asked again, or nil.
func (l *Log) Retrying() *pawl.Retried { return l.retrying }

// Settings returns those of the newest prompt, with the mode that holds now.
func (l *Log) Settings() pawl.Settings {
	s := l.settings
	if l.mode != "" {
		s.Mode = l.mode
	}
	return s
}

// Usage returns what the newest reply consumed: how full the window is.
func (l *Log) Usage() pawl.Usage { return l.usage }

// Title is the session's name, "" if it has none.
func (l *Log) Title() string { return l.title }

// Asks returns what waits for a person, the oldest first.
func (l *Log) Asks() []pawl.Seq {
	var seqs []pawl.Seq
	for seq := range l.asks {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// Ask returns one of them.
func (l *Log) Ask(seq pawl.Seq) (pawl.Asked, bool) {
	a, ok := l.asks[seq]
	return a, ok
}

// LastReply returns the model's newest words, for the clipboard.
func (l *Log) LastReply() string {
	for _, e := range slices.Backward(l.entries) {
		if e.Kind == Reply {
			return sanitizeCopy(e.text())
		}
	}
	return ""
}

// Entries returns what counts, the oldest first.
func (l *Log) Entries() []*Entry { return l.entries }

// Prepend takes a page of events that are older than all others.
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
		case ok: // it began in the older page and ended here
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
		if taken, ok := l.prompts[seq]; ok && taken.Text == "" { // it was taken in by an event that is here already
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

// join takes what is known of the same call's end.
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

// end notes that a subagent has come to its end.
func (c *CallView) end(subagent pawl.SessionID) {
	if c.DoneSubagents == nil {
		c.DoneSubagents = map[pawl.SessionID]bool{}
	}
	c.DoneSubagents[subagent] = true
}

// settle ends what a page leaves open.
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

// drop takes an entry out. It is looked for from the end, where most of them are.
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
