package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Log is what events make of a conversation, for the screen. It takes events as
// they come and, before them, pages of older ones.
type Log struct {
	entries []*Entry
	calls   map[pawl.CallID]*Entry
	prompts map[pawl.Seq]*Entry
	asks    map[pawl.Seq]pawl.Asked // that wait for an answer
	undone  []span                  // what does not count any more
	orders  map[pawl.Seq]pawl.Revert

	reply   pawl.Seq // the ReplyStarted of what is being written
	growing map[pawl.Channel]*Entry
	offsets map[pawl.Channel]int

	first, last pawl.Seq // of the events that were applied
	todos       []pawl.Todo
	turnOpen    bool
	waiting     *pawl.Retried // for another try
	mode        string
	settings    pawl.Settings // of the newest prompt
	usage       pawl.Usage    // of the newest reply
	total       pawl.Usage    // of the replies that were seen
	title       string
	version     int
}

// span is a range of events, both ends in it.
type span struct{ from, to pawl.Seq }

// NewLog returns an empty one.
func NewLog() *Log {
	return &Log{
		calls: map[pawl.CallID]*Entry{}, prompts: map[pawl.Seq]*Entry{}, asks: map[pawl.Seq]pawl.Asked{}, orders: map[pawl.Seq]pawl.Revert{},
		growing: map[pawl.Channel]*Entry{}, offsets: map[pawl.Channel]int{},
	}
}

// First is the oldest event that was applied; 1 means that there are no older ones.
func (l *Log) First() pawl.Seq { return l.first }

// Last is the newest event that was applied.
func (l *Log) Last() pawl.Seq { return l.last }

// Todos returns the list that the model keeps.
func (l *Log) Todos() []pawl.Todo { return l.todos }

// Working reports whether a turn is open.
func (l *Log) Working() bool { return l.turnOpen }

// Retrying returns what is waited for before the model is asked again, or nil.
func (l *Log) Retrying() *pawl.Retried { return l.waiting }

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

// Entries returns what counts, the oldest first.
func (l *Log) Entries() []*Entry { return l.entries }

// Prepend takes a page of events that are older than all others.
func (l *Log) Prepend(events []pawl.Event) {
	older := NewLog()
	for _, e := range events {
		older.Apply(e)
	}
	older.settle()
	for id, entry := range l.calls { // a call whose beginning is in the older page
		if begun, ok := older.calls[id]; ok {
			begun.Call.Status, begun.Call.Result, begun.Call.Ended = entry.Call.Status, entry.Call.Result, entry.Call.Ended
			begun.Call.Output, begun.Call.Children = entry.Call.Output, append(begun.Call.Children, entry.Call.Children...)
			begun.changed()
			l.entries = slices.DeleteFunc(l.entries, func(e *Entry) bool { return e == entry })
			l.calls[id] = begun
		}
	}
	for id, entry := range older.calls {
		if _, ok := l.calls[id]; !ok {
			l.calls[id] = entry
		}
	}
	for seq, entry := range older.prompts {
		if taken, ok := l.prompts[seq]; ok && taken.Text == "" { // it was taken in by an event that is here already
			taken.Text, taken.Files = entry.Text, entry.Files
			taken.changed()
			older.entries = slices.DeleteFunc(older.entries, func(e *Entry) bool { return e == entry })
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

// settle ends what a page leaves open.
func (l *Log) settle() {
	for _, e := range l.growing {
		e.Text, e.Growing = e.grown.String(), false
	}
	clear(l.growing)
}

// hide takes out what was undone.
func (l *Log) hide() {
	if len(l.undone) == 0 {
		return
	}
	l.entries = slices.DeleteFunc(l.entries, func(e *Entry) bool {
		return e.Seq > 0 && slices.ContainsFunc(l.undone, func(s span) bool { return e.Seq >= s.from && e.Seq <= s.to })
	})
}

func (l *Log) add(e *Entry) *Entry {
	l.entries = append(l.entries, e)
	return e
}

func (l *Log) note(ev pawl.Event, tone Tone, format string, args ...any) {
	l.add(&Entry{Kind: Note, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Tone: tone, Text: fmt.Sprintf(format, args...)})
}

// Apply takes an event. Those of the log come in order.
func (l *Log) Apply(e pawl.Event) {
	if e.Seq > 0 {
		if l.first == 0 {
			l.first = e.Seq
		}
		l.last = e.Seq
	}
	l.version++
	switch b := e.Body.(type) {
	case pawl.Prompted:
		l.prompted(e, b)
	case pawl.Reworded:
		if p := l.prompts[b.Prompt]; p != nil {
			p.Text = b.Parts.Text()
			p.changed()
		}
	case pawl.Withdrawn:
		l.drop(l.prompts[b.Prompt])
	case pawl.TurnStarted:
		l.turnOpen = true
		l.take(e, b.Prompt, false)
	case pawl.ReplyStarted:
		l.settle()
		l.waiting = nil
		l.reply = e.Seq
		clear(l.offsets)
	case pawl.Retried:
		l.discard()
		l.waiting = &b
		l.note(e, Warn, "%s: the model is asked again (attempt %d)", b.Message, b.Attempt+1)
	case pawl.Replied:
		l.replied(e, b)
	case pawl.CallStarted:
		l.started(e, b)
	case pawl.Progress:
		if c := l.calls[b.Call]; c != nil {
			c.Call.Output.add(b.Text)
			c.changed()
		}
	case pawl.Asked:
		l.asked(e, b)
	case pawl.Answered:
		l.answered(b)
	case pawl.CallFinished:
		l.finished(e, b)
	case pawl.Spawned:
		if c := l.calls[b.Call]; c != nil {
			c.Call.Children = append(c.Call.Children, b)
			c.changed()
		}
	case pawl.TodosSet:
		l.todos = b.Todos
	case pawl.ModeChanged:
		l.mode = b.Mode
		l.note(e, Quiet, "mode %s", b.Mode)
	case pawl.Injected:
		l.injected(e, b)
	case pawl.TurnFinished:
		l.ended(e, b)
	case pawl.Delta:
		l.grow(b)
	default:
		l.beside(e)
	}
}

// beside takes the events that are not of a turn.
func (l *Log) beside(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.SessionTitled:
		l.title = b.Title
	case pawl.CompactionAsked:
		l.note(e, Quiet, "the conversation is to be made smaller")
	case pawl.Compacted:
		switch {
		case b.Keep == 0:
			l.note(e, Warn, "the conversation was not made smaller: %s", b.Message)
		default:
			l.note(e, Quiet, "the conversation before this was summarized: %d tokens are now %d", b.Before, b.After)
		}
	case pawl.RevertAsked:
		l.orders[e.Seq] = b.Revert
	case pawl.Reverted:
		l.reverted(e, b)
	case pawl.Status:
		tone := Quiet
		if b.State == "interrupted" {
			tone = Bad
		}
		l.note(e, tone, "%s", b.Message)
	}
}

func (l *Log) prompted(ev pawl.Event, b pawl.Prompted) {
	l.settings = b.Settings
	l.mode = ""
	e := &Entry{Kind: User, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Text: b.Parts.Text(), Waiting: true, Steered: b.Delivery == pawl.DeliverSteer}
	for _, p := range b.Parts {
		if f, ok := p.(pawl.File); ok {
			e.Files = append(e.Files, f)
		}
	}
	l.prompts[ev.Seq] = l.add(e)
}

// take puts a prompt where it was taken in.
func (l *Log) take(ev pawl.Event, prompt pawl.Seq, steered bool) {
	p := l.prompts[prompt]
	if p == nil { // it was accepted before the oldest event that is known
		p = &Entry{Kind: User, Seq: prompt, At: ev.At}
		l.prompts[prompt] = p
	}
	l.drop(p)
	p.Waiting, p.Steered, p.Turn = false, steered, ev.Turn
	p.changed()
	l.add(p)
}

func (l *Log) drop(e *Entry) {
	if e != nil {
		l.entries = slices.DeleteFunc(l.entries, func(other *Entry) bool { return other == e })
	}
}

// discard takes back what has come of a reply that is void.
func (l *Log) discard() {
	for _, e := range l.growing {
		l.drop(e)
	}
	clear(l.growing)
	clear(l.offsets)
}

// grow adds to the reply that is being written. A piece that does not join what is
// there is left out: the whole comes with the reply.
func (l *Log) grow(d pawl.Delta) {
	if d.Reply != l.reply || d.Offset > l.offsets[d.Channel] {
		return
	}
	text := d.Text
	if over := l.offsets[d.Channel] - d.Offset; over >= len(text) {
		return
	} else if over > 0 {
		text = text[over:]
	}
	e := l.growing[d.Channel]
	if e == nil {
		kind := Reply
		if d.Channel == pawl.ChannelReasoning {
			kind = Reasoning
		}
		e = l.add(&Entry{Kind: kind, Growing: true})
		l.growing[d.Channel] = e
	}
	e.grown.WriteString(text)
	e.changed()
	l.offsets[d.Channel] += len(text)
}

// Join takes what has come of a reply before this watcher came.
func (l *Log) Join(d pawl.Draft) {
	if d.Reply != l.reply {
		return
	}
	l.grow(pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelReasoning, Text: d.Reasoning})
	l.grow(pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelText, Text: d.Text})
	l.version++
}

func (l *Log) replied(ev pawl.Event, b pawl.Replied) {
	l.discard()
	l.waiting = nil
	l.usage, l.total = b.Usage, l.total.Add(b.Usage)
	for _, part := range b.Parts {
		e := &Entry{Seq: ev.Seq, Turn: ev.Turn, At: ev.At}
		switch p := part.(type) {
		case pawl.Text:
			e.Kind, e.Text = Reply, p.Text
		case pawl.Reasoning:
			e.Kind, e.Text = Reasoning, p.Text
		case pawl.ToolCall:
			e.Kind, e.Call = Call, &CallView{ID: p.ID, Tool: p.Name, Input: p.Input}
			l.calls[p.ID] = e
		default:
			continue
		}
		if e.Kind == Call || strings.TrimSpace(e.Text) != "" {
			l.add(e)
		}
	}
}

// call returns the entry of a call, which may have begun before the oldest event
// that is known.
func (l *Log) call(ev pawl.Event, id pawl.CallID) *Entry {
	e := l.calls[id]
	if e == nil {
		e = l.add(&Entry{Kind: Call, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Call: &CallView{ID: id}})
		l.calls[id] = e
	}
	return e
}

func (l *Log) started(ev pawl.Event, b pawl.CallStarted) {
	e := l.call(ev, b.Call)
	e.Call.Tool, e.Call.Started, e.Call.Unsafe = b.Tool, ev.At, b.Unsafe
	if b.Input != nil {
		e.Call.Input = b.Input
	}
	e.changed()
}

func (l *Log) finished(ev pawl.Event, b pawl.CallFinished) {
	e := l.call(ev, b.Call)
	e.Call.Status, e.Call.Result, e.Call.Ended, e.Call.Asking = b.Status, b.Result, ev.At, nil
	e.changed()
}

func (l *Log) asked(ev pawl.Event, b pawl.Asked) {
	l.asks[ev.Seq] = b
	if c := l.calls[b.Call]; c != nil {
		c.Call.Asking = &b
		c.changed()
	}
}

func (l *Log) answered(b pawl.Answered) {
	ask, ok := l.asks[b.Ask]
	delete(l.asks, b.Ask)
	if c := l.calls[ask.Call]; ok && c != nil {
		c.Call.Asking = nil
		c.changed()
	}
}

func (l *Log) injected(ev pawl.Event, b pawl.Injected) {
	switch {
	case b.Prompt != 0:
		l.take(ev, b.Prompt, true)
	case b.Source == "task":
		l.note(ev, Quiet, "a background task came back")
	default:
		l.note(ev, Quiet, "the model was told (%s): %s", b.Source, b.Text)
	}
}

func (l *Log) ended(ev pawl.Event, b pawl.TurnFinished) {
	l.turnOpen, l.waiting = false, nil
	l.settle()
	switch b.Reason {
	case pawl.ReasonEndTurn:
	case pawl.ReasonCanceled:
		l.note(ev, Warn, "interrupted")
	case pawl.ReasonError:
		l.note(ev, Bad, "%s", b.Message)
	default:
		text := strings.ReplaceAll(string(b.Reason), "_", " ")
		if b.Message != "" {
			text += ": " + b.Message
		}
		l.note(ev, Warn, "%s", text)
	}
}

// reverted hides what was undone. What comes back by a redo is read anew by
// whoever shows it.
func (l *Log) reverted(ev pawl.Event, b pawl.Reverted) {
	r := l.orders[b.Asked]
	switch {
	case b.Refused != "":
		l.note(ev, Warn, "not undone: %s", b.Refused)
		return
	case r.Redo == 0 && r.Scope.Conversation():
		l.undone = append(l.undone, span{r.To, b.Asked})
		l.hide()
	}
	text := "went back"
	if r.Redo != 0 {
		text = "went forward again"
	}
	if n := len(b.Changed); n > 0 {
		text += fmt.Sprintf(", %d files put back", n)
	}
	l.note(ev, Quiet, "%s", text)
}
