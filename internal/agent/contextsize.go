package agent

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/tool"
)

// contextFold is a fold of the log with what is needed, besides the messages, to fit a
// conversation into a context window. It includes undone events.
type contextFold struct {
	head    pawl.Seq
	sizes   prompt.Sizes
	counted prompt.Counted
	written map[pawl.CallID][]string // the files that calls wrote to
	digests map[pawl.Seq]carried     // by the Seq of the Compacted event, which is also that of its message
	waiting map[pawl.Seq]pawl.Parts  // prompts that are in no turn yet
	rules   map[string]bool          // rule files that results in the conversation contain
	loads   []load                   // the newest last
	turn    struct {                 // the newest
		began  pawl.Seq // its TurnStarted event, which is also the Seq of its prompt's message
		prompt string
	}
}

// maxLoads bounds the loads of skills that are remembered.
const maxLoads = 50

// load is a call that loaded a skill.
type load struct {
	seq   pawl.Seq // of its CallFinished event
	call  pawl.CallID
	skill prompt.Skill
}

// carried is what one compaction passes on to the next.
type carried struct {
	task  string
	files []string
}

// apply folds the next event. An event that was applied before changes nothing.
func (t *contextFold) apply(e pawl.Event) {
	if e.Seq <= t.head {
		return
	}
	if t.head == 0 {
		t.written, t.digests, t.waiting = map[pawl.CallID][]string{}, map[pawl.Seq]carried{}, map[pawl.Seq]pawl.Parts{}
	}
	t.head = e.Seq
	t.counted.Apply(e)
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.waiting[e.Seq] = b.Parts
	case pawl.Reworded:
		t.waiting[b.Prompt] = b.Parts
	case pawl.Withdrawn:
		delete(t.waiting, b.Prompt)
	case pawl.Injected:
		delete(t.waiting, b.Prompt)
	case pawl.TurnStarted:
		t.turn.began, t.turn.prompt = e.Seq, t.waiting[b.Prompt].Text()
		delete(t.waiting, b.Prompt)
	case pawl.CallStarted:
		for _, a := range b.Access {
			if a.Kind == pawl.AccessWrite {
				t.written[b.Call] = append(t.written[b.Call], a.Target)
			}
		}
	case pawl.CallFinished:
		if b.Result.IsError {
			delete(t.written, b.Call)
		}
		if name := b.Result.Meta[tool.MetaSkill]; name != "" && !b.Result.IsError {
			t.load(e.Seq, b.Call, prompt.Skill{Name: name, Text: b.Result.Content})
		}
		if files := b.Result.Meta[metaRules]; files != "" {
			t.addRules(strings.Split(files, "\n"))
		}
	case pawl.Undone:
		t.rules = nil
	case pawl.Compacted:
		t.rules = nil
		if b.Keep != 0 {
			t.digests[e.Seq] = carried{b.Task, b.Files}
		}
	default:
	}
}

// writtenBy returns the files that a call wrote to.
func (t *contextFold) writtenBy(id pawl.CallID) []string { return t.written[id] }

// addRules records that the conversation has these rule files.
func (t *contextFold) addRules(files []string) {
	if t.rules == nil {
		t.rules = map[string]bool{}
	}
	for _, f := range files {
		t.rules[f] = true
	}
}

// load records that a call loaded a skill. A text that is too long to be repeated after a
// compaction is not kept.
func (t *contextFold) load(seq pawl.Seq, call pawl.CallID, s prompt.Skill) {
	if len(s.Text) > prompt.MaxSkillText {
		s.Text = ""
	}
	t.loads = append(t.loads, load{seq, call, s})
	t.loads = t.loads[max(len(t.loads)-maxLoads, 0):]
}
