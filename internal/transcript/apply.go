package transcript

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Apply applies the next event, and returns what it changed. The events of the log must come in
// order.
func (t *Transcript) Apply(e pawl.Event) Change {
	var c Change
	t.apply(&c, e)
	return c
}

// Load applies events to a transcript whose changes nobody follows yet, which is faster.
func (t *Transcript) Load(events []pawl.Event) {
	if len(t.items) == 0 {
		t.items, t.order = make(map[string]*Item, len(events)/2), make([]*Item, 0, len(events)/2)
	}
	for _, e := range events {
		t.apply(nil, e)
	}
}

// apply applies an event. c is nil if nobody follows the changes.
func (t *Transcript) apply(c *Change, e pawl.Event) {
	if e.Seq > 0 {
		t.last = e.Seq
	}
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.put(c, Item{ID: PromptID(e.Seq), Kind: KindUser, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateWaiting, Text: b.Parts.Text(), Files: files(b.Parts),
			By: b.By, Steered: b.Delivery == pawl.DeliverSteer, Queued: b.Delivery == pawl.DeliverQueue})
	case pawl.Reworded:
		t.edit(c, t.items[PromptID(b.Prompt)], func(it *Item) { it.Text, it.Files = b.Parts.Text(), files(b.Parts) })
	case pawl.Withdrawn:
		t.remove(c, PromptID(b.Prompt))
	case pawl.TurnStarted:
		t.turnAt = e.At
		t.taken(c, e, b.Prompt, false)
	case pawl.Injected:
		t.injected(c, e, b)
	case pawl.TurnFinished:
		t.turnFinished(c, e, b)
	case pawl.ReplyStarted, pawl.Retried, pawl.Replied, pawl.Delta:
		t.reply(c, e)
	case pawl.CallStarted, pawl.Progress, pawl.Asked, pawl.Answered, pawl.CallFinished, pawl.Spawned, pawl.TodosSet:
		t.call(c, e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		t.shell(c, e)
	case pawl.ModeChanged, pawl.SessionShared, pawl.CompactionAsked, pawl.Compacted, pawl.UndoAsked, pawl.Undone, pawl.Status:
		t.session(c, e)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		t.mission(c, e)
	case pawl.SessionCreated, pawl.SessionTitled, pawl.SessionSummarized: // about the session; see [pawl.Session]
	}
}

// PromptID returns the ID of the item of a prompt.
func PromptID(seq pawl.Seq) string { return seqID("prompt", seq) }

func eventID(kind Kind, e pawl.Event) string { return seqID(kind, e.Seq) }

func seqID(prefix Kind, seq pawl.Seq) string {
	var buf [32]byte
	return string(strconv.AppendInt(append(append(buf[:0], prefix...), '_'), int64(seq), 10))
}

func files(parts pawl.Parts) []pawl.File {
	var list []pawl.File
	for _, p := range parts {
		if f, ok := p.(pawl.File); ok {
			list = append(list, f)
		}
	}
	return list
}

// taken moves a prompt to where the model reads it.
func (t *Transcript) taken(c *Change, e pawl.Event, prompt pawl.Seq, steered bool) {
	p := t.items[PromptID(prompt)]
	if p == nil { // it was sent before the oldest known event
		p = t.put(c, Item{ID: PromptID(prompt), Kind: KindUser, Seq: e.Seq, At: e.At})
	}
	t.edit(c, p, func(it *Item) {
		it.Seq, it.Turn, it.State, it.Steered, it.Queued = e.Seq, e.Turn, StateDone, steered, false
	})
}

func (t *Transcript) injected(c *Change, e pawl.Event, b pawl.Injected) {
	if b.Subagent != "" {
		t.endSubagents(c, func(it *Item) bool { return it.Subagent.Subagent == b.Subagent })
	}
	switch {
	case b.Prompt != 0:
		t.taken(c, e, b.Prompt, true)
	case b.Source == "task":
		t.note(c, e, Item{Text: "A background subagent finished", More: b.Text, Source: b.Source})
	default:
		t.note(c, e, Item{Text: fmt.Sprintf("Added to the conversation (%s)", b.Source), More: b.Text, Source: b.Source})
	}
}

// note adds a note about an event.
func (t *Transcript) note(c *Change, e pawl.Event, it Item) *Item {
	it.ID, it.Kind, it.Seq, it.Turn, it.At, it.State = eventID(KindNote, e), KindNote, e.Seq, e.Turn, e.At, StateDone
	if e.Seq == 0 {
		t.unsaved++
		it.ID, it.Seq, it.Part, it.Unsaved = fmt.Sprintf("note_%d_%d", t.last, t.unsaved), t.last, unsavedPart+t.unsaved, true
	}
	return t.put(c, it)
}

// levels are the levels of mission events.
var levels = map[humanize.Level]Level{humanize.Quiet: LevelQuiet, humanize.Good: LevelGood, humanize.Warn: LevelWarn, humanize.Bad: LevelBad}

// mission adds a step of a mission.
func (t *Transcript) mission(c *Change, e pawl.Event) {
	line, level := humanize.Mission(e.Body)
	it := Item{ID: eventID(KindMission, e), Kind: KindMission, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateDone, Text: line, Level: levels[level], More: humanize.MissionDetail(e.Body)}
	switch b := e.Body.(type) {
	case pawl.Sealed:
		it.Mission = pawl.MissionSealed
	case pawl.Blocked:
		it.Mission, it.Next = cmp.Or(b.State, pawl.MissionBlocked), "Send a prompt to continue."
		if b.State == pawl.MissionPlanned {
			it.Next = "Read it with pawl mission plan, then run pawl mission approve."
		}
	default: // the mission goes on
	}
	if s, ok := e.Subagent(); ok {
		it.Subagent = &s
	}
	t.put(c, it)
}
