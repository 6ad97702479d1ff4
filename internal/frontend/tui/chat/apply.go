package chat

import (
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Apply applies an event. Events of the log must come in order.
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
		l.reworded(b)
	case pawl.Withdrawn:
		l.drop(l.prompts[b.Prompt])
	case pawl.TurnStarted:
		l.turnOpen, l.turnAt = true, e.At
		l.promptTaken(e, b.Prompt, false)
	case pawl.ReplyStarted:
		l.settle()
		l.endRetry()
		l.reply, l.replyAt = e.Seq, e.At
		clear(l.offsets)
	case pawl.Retried:
		l.retried(e, b)
	case pawl.Replied:
		l.replied(e, b)
	case pawl.Injected:
		l.injected(e, b)
	case pawl.TurnFinished:
		l.turnFinished(e, b)
	case pawl.Delta:
		l.delta(e, b)
	case pawl.TodosSet:
		l.todos = b.Todos
	case pawl.ModeChanged:
		l.mode = b.Mode
		l.note(e, Quiet, "Permission mode: %s", b.Mode)
	case pawl.CallStarted, pawl.Progress, pawl.Asked, pawl.Answered, pawl.CallFinished, pawl.Spawned:
		l.callEvent(e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		l.shellEvent(e)
	default:
		l.sessionEvent(e)
	}
}

// sessionEvent applies the events outside of turns; it ignores those that are not
// shown.
func (l *Log) sessionEvent(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.SessionTitled:
		l.title = b.Title
	case pawl.CompactionAsked:
		l.note(e, Quiet, "Compacting the conversation")
	case pawl.Compacted:
		l.add(noteEntry(e, transcript.CompactionNote(b)))
	case pawl.UndoAsked:
		l.undoRequests[e.Seq] = b.Undo
	case pawl.Undone:
		l.applyUndone(e, b)
	case pawl.Status:
		if b.State == "interrupted" {
			l.note(e, Bad, "%s", b.Message).Next = "The session is saved. Send a prompt, or run `pawl resume`, to continue."
			return
		}
		l.note(e, Quiet, "%s", b.Message)
	default:
		l.missionEvent(e)
	}
}

// tones maps the levels of items to tones.
var tones = map[transcript.Level]Tone{transcript.LevelQuiet: Quiet, transcript.LevelGood: Good, transcript.LevelWarn: Warn, transcript.LevelBad: Bad}

// noteEntry returns an entry with the texts of an item.
func noteEntry(ev pawl.Event, it transcript.Item) *Entry {
	return &Entry{Kind: Note, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Tone: tones[it.Level], Text: it.Text, Next: it.Next}
}

// tonesByLevel maps the importance of mission events to tones.
var tonesByLevel = map[humanize.Level]Tone{humanize.Quiet: Quiet, humanize.Good: Good, humanize.Warn: Warn, humanize.Bad: Bad}

// missionEvent applies the events of a mission.
func (l *Log) missionEvent(ev pawl.Event) {
	line, level := humanize.Mission(ev.Body)
	if line == "" {
		return // not shown
	}
	e := l.note(ev, tonesByLevel[level], "%s", line)
	switch b := ev.Body.(type) {
	case pawl.Blocked:
		e.Text, e.Next = "Blocked: "+b.Reason, "Send a prompt to continue."
		switch b.State {
		case pawl.MissionPaused:
			e.Text, e.Next = "Paused: "+b.Reason, "Send a prompt to continue."
		case pawl.MissionPlanned:
			e.Text, e.Next = "Planned: "+b.Reason, "Read it with pawl mission plan, then run pawl mission approve."
		}
	case pawl.Sealed:
	default:
		e.Step = true
	}
}

func (l *Log) prompted(ev pawl.Event, b pawl.Prompted) {
	l.settings = b.Settings
	l.mode = ""
	e := &Entry{
		Kind: User, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Text: b.Parts.Text(), Files: files(b.Parts),
		Waiting: true, Steered: b.Delivery == pawl.DeliverSteer, Queued: b.Delivery == pawl.DeliverQueue,
	}
	if l.prompts[ev.Seq] = e; !l.turnOpen { // otherwise it is shown above the editor until the model reads it
		l.add(e)
	}
}

func files(parts pawl.Parts) []pawl.File {
	var files []pawl.File
	for _, p := range parts {
		if f, ok := p.(pawl.File); ok {
			files = append(files, f)
		}
	}
	return files
}

func (l *Log) reworded(b pawl.Reworded) {
	if p := l.prompts[b.Prompt]; p != nil {
		p.Text, p.Files = b.Parts.Text(), files(b.Parts)
		p.changed()
	}
}

// promptTaken moves a prompt to where the model reads it.
func (l *Log) promptTaken(ev pawl.Event, prompt pawl.Seq, steered bool) {
	p := l.prompts[prompt]
	if p == nil { // it was sent before the oldest known event
		p = &Entry{Kind: User, Seq: prompt, At: ev.At}
		l.prompts[prompt] = p
	}
	l.drop(p)
	p.Waiting, p.Queued, p.Steered, p.Turn, p.TakenAt = false, false, steered, ev.Turn, ev.Seq
	p.changed()
	l.add(p)
}

func (l *Log) injected(ev pawl.Event, b pawl.Injected) {
	if c := l.subagents[b.Subagent]; b.Subagent != "" && c != nil {
		c.Call.end(b.Subagent)
		c.changed()
	}
	switch {
	case b.Prompt != 0:
		l.promptTaken(ev, b.Prompt, true)
	case b.Source == "task":
		l.note(ev, Quiet, "A background subagent finished")
	default:
		l.note(ev, Quiet, "Added to the conversation (%s): %s", b.Source, b.Text)
	}
}

func (l *Log) turnFinished(ev pawl.Event, b pawl.TurnFinished) {
	e := l.add(noteEntry(ev, transcript.TurnEnd(b)))
	if b.Steps > 0 {
		e.Text += fmt.Sprintf(" · %s", humanize.Plural(b.Steps, "step"))
	}
	if n := b.Usage.Tokens(); n > 0 {
		e.Text += fmt.Sprintf(" · %s tokens", humanize.Short(n))
	}
	if b.Usage.Cost > 0 {
		e.Text += " · " + humanize.Dollars(b.Usage.Cost)
	}
	if !l.turnAt.IsZero() && ev.At.After(l.turnAt) {
		e.Text += " · " + humanize.Took(ev.At.Sub(l.turnAt))
	}
	l.turnOpen = false
	l.endRetry()
	l.settle()
	clear(l.running)
}
