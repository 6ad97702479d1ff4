package transcript

import (
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Apply applies the next event, and returns what it changed. The events of the log must come in
// order.
func (t *Transcript) Apply(e pawl.Event) Change {
	if e.Seq > 0 {
		t.last = e.Seq
	}
	var c Change
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.put(&c, Item{ID: PromptID(e.Seq), Kind: KindUser, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateWaiting, Text: b.Parts.Text(), Files: files(b.Parts),
			By: b.By, Steered: b.Delivery == pawl.DeliverSteer, Queued: b.Delivery == pawl.DeliverQueue})
	case pawl.Reworded:
		t.edit(&c, PromptID(b.Prompt), func(it *Item) { it.Text, it.Files = b.Parts.Text(), files(b.Parts) })
	case pawl.Withdrawn:
		t.remove(&c, PromptID(b.Prompt))
	case pawl.TurnStarted:
		t.turnAt = e.At
		t.taken(&c, e, b.Prompt, false)
	case pawl.Injected:
		t.injected(&c, e, b)
	case pawl.TurnFinished:
		t.turnFinished(&c, e, b)
	case pawl.ReplyStarted, pawl.Retried, pawl.Replied, pawl.Delta:
		t.reply(&c, e)
	case pawl.CallStarted, pawl.Progress, pawl.Asked, pawl.Answered, pawl.CallFinished, pawl.Spawned, pawl.TodosSet:
		t.call(&c, e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		t.shell(&c, e)
	case pawl.ModeChanged, pawl.SessionShared, pawl.CompactionAsked, pawl.Compacted, pawl.UndoAsked, pawl.Undone, pawl.Status:
		t.session(&c, e)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		t.mission(&c, e)
	case pawl.SessionCreated, pawl.SessionTitled, pawl.SessionSummarized: // about the session; see [pawl.Session]
	}
	return c
}

// PromptID returns the ID of the item of a prompt.
func PromptID(seq pawl.Seq) string { return fmt.Sprintf("prompt_%d", seq) }

func eventID(kind Kind, e pawl.Event) string { return fmt.Sprintf("%s_%d", kind, e.Seq) }

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
	id := PromptID(prompt)
	if t.items[id] == nil { // it was sent before the oldest known event
		t.put(c, Item{ID: id, Kind: KindUser, Seq: e.Seq, At: e.At})
	}
	t.edit(c, id, func(it *Item) {
		it.Seq, it.Turn, it.State, it.Steered, it.Queued = e.Seq, e.Turn, StateDone, steered, false
	})
}

func (t *Transcript) injected(c *Change, e pawl.Event, b pawl.Injected) {
	if b.Subagent != "" {
		t.edit(c, subagentID(b.Subagent), func(it *Item) { it.State = StateDone })
	}
	switch {
	case b.Prompt != 0:
		t.taken(c, e, b.Prompt, true)
	case b.Source == "task":
		t.note(c, e, Item{Text: "A background subagent finished", More: b.Text})
	default:
		t.note(c, e, Item{Text: fmt.Sprintf("Added to the conversation (%s)", b.Source), More: b.Text})
	}
}

// note adds a note about an event.
func (t *Transcript) note(c *Change, e pawl.Event, it Item) {
	it.ID, it.Kind, it.Seq, it.Turn, it.At, it.State = eventID(KindNote, e), KindNote, e.Seq, e.Turn, e.At, StateDone
	if e.Seq == 0 {
		t.unsaved++
		it.ID, it.Seq, it.Part = fmt.Sprintf("note_%d_%d", t.last, t.unsaved), t.last, unsavedPart+t.unsaved
	}
	t.put(c, it)
}

// levels are the levels of mission events.
var levels = map[humanize.Level]Level{humanize.Quiet: LevelQuiet, humanize.Good: LevelGood, humanize.Warn: LevelWarn, humanize.Bad: LevelBad}

// mission adds a step of a mission.
func (t *Transcript) mission(c *Change, e pawl.Event) {
	line, level := humanize.Mission(e.Body)
	it := Item{ID: eventID(KindMission, e), Kind: KindMission, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateDone, Text: line, Level: levels[level], More: humanize.MissionDetail(e.Body)}
	if _, ok := e.Body.(pawl.Blocked); ok {
		it.Next = "Send a prompt to continue."
	}
	if s, ok := e.Subagent(); ok {
		it.Subagent = &s
	}
	t.put(c, it)
}
