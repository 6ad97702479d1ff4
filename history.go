package pawl

import (
	"fmt"
	"slices"
	"time"
)

// History is a session as its log tells it: the conversation, the prompts that
// wait, and how far the open turn has come. It is the fold of the events and
// grows with them, so nobody reads a log from the start at each step. The zero
// value is the history before the first event. It is not safe for concurrent use.
type History struct {
	head     Seq
	created  SessionCreated
	messages []Message
	waiting  []Waiting
	settings Settings
	turns    int
	replies  int
	open     *OpenTurn
	calls    map[CallID]*CallState
	todos    []Todo
	mission  *Mission
	seen     map[string]string

	orders      []Order
	undos       []redoable
	compactions int
	compaction  *Compaction

	undone  undoneSpans
	scanned Seq  // undone knows all events up to here
	skipped bool // the newest event applied does not count
}

// Order is what a person has ordered to be done to the session and that is not
// done yet: a CompactionAsked, a UndoAsked or a ShellAsked.
type Order struct {
	Seq  Seq
	Body Body

	Began   Seq           // of a ShellAsked: its ShellStarted event; 0 until then
	Started *ShellStarted // likewise
}

// redoable is an undo that can be redone.
type redoable struct {
	seq  Seq // its Undone event
	undo Undo
}

// Compaction is the newest compaction of a session.
type Compaction struct {
	Seq       Seq
	Turn      int // it was made in, or after
	Step      int // the turn's steps until then
	Compacted Compacted
}

// Waiting is a prompt that was accepted and not yet taken in.
type Waiting struct {
	Seq    Seq
	Prompt Prompted
}

// OpenTurn is a turn that has started and not finished.
type OpenTurn struct {
	Number    int
	Prompt    Seq
	Began     time.Time
	Settings  Settings
	Warned    bool        // the model was told that a budget is running out
	Steps     []Step      // Steps[i] is step i+1
	Steered   []Waiting   // the prompts that were taken in since it began
	Injected  []string    // the sources of what was injected since the newest step began
	Asked     *OpenAsk    // what the turn itself asked since then, or nil
	Kept      int         // how often hooks kept it going when it would have ended
	Subagents []Spawned   // in the order in which they were spawned
	Pending   []SessionID // background subagents whose result is not in the conversation yet
	Workers   []SessionID // of a mission: the workers and reviewers that began in this turn
	Usage     Usage
}

// Step is one round of the loop: a model call and what it asked for.
type Step struct {
	Started Seq // its ReplyStarted event
	Replied bool
	Finish  Finish   // of the reply
	Calls   []CallID // of the reply
}

// CallState is how far a call of the open turn has come. Once the next step has
// begun, what the call was is forgotten but for its id and name: a turn may have
// thousands.
type CallState struct {
	Call       ToolCall
	Started    *CallStarted // nil until started
	Asked      *OpenAsk     // nil until it asked
	Permission *OpenAsk     // nil unless a person is asked whether it may run
	Spawned    *Spawned     // nil until it spawned a subagent
	Finished   bool

	message, slot int // where its result goes
}

// OpenAsk is what the open turn, or a call of it, asked.
type OpenAsk struct {
	Seq    Seq
	At     time.Time
	Asked  Asked
	Answer *Answer // nil until answered
}

// Conversation folds a log into messages. A call without a result, in a log
// that ends in mid-turn, has none here either.
func Conversation(events []Event) ([]Message, error) {
	h, err := Fold(SliceLog(events))
	if err != nil {
		return nil, err
	}
	return h.Messages(), nil
}

// Head is the Seq of the newest event applied.
func (h *History) Head() Seq { return h.head }

// Created is the session's first event.
func (h *History) Created() SessionCreated { return h.created }

// Settings are those of the newest prompt.
func (h *History) Settings() Settings { return h.settings }

// Turns is the number of turns started, those that do not count any more too.
func (h *History) Turns() int { return h.turns }

// Replies is the number of replies in the log, likewise.
func (h *History) Replies() int { return h.replies }

// Orders lists what is to be done to the session, oldest first.
func (h *History) Orders() []Order { return h.orders }

// Redo returns the newest undo that can be redone, and the Seq of its Undone event.
// ok is false if nothing was undone, or if the session went on since.
func (h *History) Redo() (seq Seq, u Undo, ok bool) {
	if len(h.undos) == 0 {
		return 0, Undo{}, false
	}
	newest := h.undos[len(h.undos)-1]
	return newest.seq, newest.undo, true
}

// Compactions is the number of summaries that a model wrote for the session.
func (h *History) Compactions() int { return h.compactions }

// Compaction is the newest compaction, or nil.
func (h *History) Compaction() *Compaction { return h.compaction }

// Open is the open turn, or nil.
func (h *History) Open() *OpenTurn { return h.open }

// Waiting lists the prompts not yet taken in, oldest first.
func (h *History) Waiting() []Waiting { return h.waiting }

// Call returns the state of a call of the open turn, or nil.
func (h *History) Call(id CallID) *CallState { return h.calls[id] }

// CallIDUsed reports whether any call of the session ever had this id.
func (h *History) CallIDUsed(id CallID) bool {
	_, used := h.calls[id]
	return used
}

// Undone reports whether an event does not count any more, because a person went
// back to before it.
func (h *History) Undone(seq Seq) bool { return h.undone.has(seq) }

// Todos is the list that the model keeps of its work.
func (h *History) Todos() []Todo { return h.todos }

// Seen is the [Result.Seen] of a file, or "".
func (h *History) Seen(path string) string { return h.seen[path] }

// Ask returns the ask of the open turn that has this Seq, or nil.
func (h *History) Ask(seq Seq) *OpenAsk {
	if h.open == nil {
		return nil
	}
	if a := h.open.Asked; a != nil && a.Seq == seq {
		return a
	}
	for _, step := range h.open.Steps {
		if !step.Replied {
			continue
		}
		for _, id := range step.Calls {
			for _, a := range []*OpenAsk{h.calls[id].Permission, h.calls[id].Asked} {
				if a != nil && a.Seq == seq {
					return a
				}
			}
		}
	}
	return nil
}

// Messages is the conversation. The slice is the history's own: read it before
// the next Apply, and do not change it.
func (h *History) Messages() []Message {
	last := len(h.messages) - 1
	if last < 0 || h.messages[last].Role != RoleTool || !slices.Contains(h.messages[last].Parts, Part(nil)) {
		return h.messages
	}
	// Calls of the newest reply are still without a result: show those that have one.
	messages := slices.Clone(h.messages)
	messages[last].Parts = slices.DeleteFunc(slices.Clone(messages[last].Parts), func(p Part) bool { return p == nil })
	if len(messages[last].Parts) == 0 {
		messages = messages[:last]
	}
	return messages
}

// Apply adds the next event. An error other than [ErrRewound] means that the log
// is not one that pawl writes (a gap, a second result, …) and must not be acted on.
func (h *History) Apply(e Event) error {
	if e.Seq != h.head+1 {
		return fmt.Errorf("event %d follows event %d: the log has a gap", e.Seq, h.head)
	}
	if _, begins := e.Body.(SessionCreated); begins != (e.Seq == 1) {
		return fmt.Errorf("event %d, %s: a session begins with its creation, once", e.Seq, KindOf(e.Body))
	}
	if e.Seq > h.scanned && h.undone.add(e) {
		return ErrRewound
	}
	if h.undone.has(e.Seq) {
		h.skip(e)
	} else {
		h.arrive()
		if err := h.apply(e); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.Seq, KindOf(e.Body), err)
		}
	}
	h.head = e.Seq
	return nil
}

// skip passes over an event that does not count. What was used up stays so.
func (h *History) skip(e Event) {
	h.skipped = true
	switch b := e.Body.(type) {
	case TurnStarted:
		h.turns++
		h.undos = nil // what was taken back before it stays so
	case Replied:
		h.replies++
		for _, c := range b.Parts.Calls() {
			h.useCallID(c.ID, nil)
		}
	case ShellStarted:
		h.goOn(b.Asked)
	case Compacted:
		if b.Model != "" {
			h.compactions++
		}
	default:
	}
}

// arrive ends a part of the log that does not count. When it was left behind no
// turn was open and nothing waited, so what seems to is what it had taken in.
func (h *History) arrive() {
	if !h.skipped {
		return
	}
	h.skipped = false
	h.waiting, h.orders = nil, nil
	h.closeTurn()
}

func (h *History) apply(e Event) error {
	switch b := e.Body.(type) {
	case SessionCreated:
		h.created = b
	case SessionTitled, SessionShared, SessionSummarized, Retried:
	case MissionStarted:
		return h.startMission(e, b)
	case Planned, CriteriaSet, Delegated, TaskStarted, TaskMerged, TaskReturned, CheckRan, ReviewStarted, Reviewed, GateResult, Sealed, Blocked:
		return h.ofMission(e)
	case CompactionAsked:
		h.orders = append(h.orders, Order{Seq: e.Seq, Body: b})
	case Compacted:
		return h.compact(e, b)
	case UndoAsked:
		return h.askUndo(e, b)
	case Undone:
		return h.undo(e, b)
	case ShellAsked:
		h.orders = append(h.orders, Order{Seq: e.Seq, Body: b})
	case ShellStarted:
		return h.startShell(e, b)
	case ShellRan:
		return h.endShell(b)
	case Prompted:
		h.waiting = append(h.waiting, Waiting{e.Seq, b})
		h.settings = b.Settings
	case Reworded:
		return h.reword(b)
	case Withdrawn:
		_, err := h.take(b.Prompt)
		return err
	case TurnStarted:
		return h.startTurn(e, b)
	case Injected:
		return h.inject(e, b)
	case ReplyStarted:
		return h.startReply(e, b)
	case Replied:
		return h.reply(e, b)
	case CallStarted:
		call, err := h.unfinished(b.Call)
		if err != nil {
			return err
		}
		call.Started = &b
	case Asked:
		return h.ask(e, b)
	case Answered:
		return h.answer(b)
	case TodosSet:
		h.todos = b.Todos
	case ModeChanged:
		h.settings.Mode = b.Mode
		if h.open != nil {
			h.open.Settings.Mode = b.Mode
		}
	case Spawned:
		return h.spawn(b)
	case CallFinished:
		return h.finishCall(b)
	case TurnFinished:
		return h.finishTurn()
	case Delta, Progress, Status:
		return fmt.Errorf("does not belong in a log")
	}
	return nil
}
