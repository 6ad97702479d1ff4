package pawl

import (
	"fmt"
	"slices"
	"time"
)

// History is the state of a session, folded from its log: the conversation, the
// waiting prompts and the open turn. Apply updates it with each new event, so that
// nobody has to read the log again. The zero value is the history before the first
// event. It is not safe for concurrent use.
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
	scanned Seq  // undone includes all events up to here
	skipped bool // the newest event was undone
}

// Order is a request by the user that is not carried out yet: a CompactionAsked, an
// UndoAsked or a ShellAsked.
type Order struct {
	Seq  Seq
	Body Body

	Began   Seq           // of a ShellAsked: its ShellStarted event; 0 until then
	Started *ShellStarted // likewise; nil until then
}

// redoable is an undo that can be redone.
type redoable struct {
	seq  Seq // its Undone event
	undo Undo
}

// Compaction is the newest compaction of a session.
type Compaction struct {
	Seq       Seq
	Turn      int // in or after which it happened
	Step      int // number of steps of that turn before it
	Compacted Compacted
}

// Waiting is an accepted prompt that no turn has taken in yet.
type Waiting struct {
	Seq    Seq
	Prompt Prompted
}

// OpenTurn is a turn that has not finished.
type OpenTurn struct {
	Number    int
	Prompt    Seq
	By        Actor // who sent the prompt
	Began     time.Time
	Settings  Settings
	Warned    bool        // the model was warned that a budget is running out
	Steps     []Step      // Steps[i] is step i+1
	Steered   []Waiting   // steering prompts that were added since it began
	Injected  []string    // sources of the messages that were injected since the newest step began
	Asked     *OpenAsk    // what the turn itself asked since then, or nil
	Kept      int         // how often hooks prevented its end
	Subagents []Spawned   // in the order in which they were spawned
	Pending   []SessionID // background subagents whose result is not in the conversation yet
	Workers   []SessionID // of a mission: the workers and reviewers that started in this turn
	Usage     Usage
}

// Step is one round of the loop: a model call and its tool calls.
type Step struct {
	Started Seq // its ReplyStarted event
	Replied bool
	Finish  Finish   // of the reply
	Calls   []CallID // of the reply
}

// CallState is the state of a tool call of the open turn. Once the next step
// begins, only its ID, name and asks are kept: a turn may have thousands of calls.
type CallState struct {
	Call       ToolCall
	Started    *CallStarted // nil until started
	Asked      *OpenAsk     // nil unless it asked
	Permission *OpenAsk     // nil unless it needed permission
	Spawned    *Spawned     // nil unless it spawned a subagent
	Finished   bool

	message, slot int // where its result goes
}

// OpenAsk is an ask of the open turn or of one of its calls.
type OpenAsk struct {
	Seq    Seq
	At     time.Time
	Asked  Asked
	Answer *Answer // nil until answered
	By     Actor   // who answered
}

// Conversation folds a log into messages. If the log ends during a turn, calls
// without a result have no result here either.
func Conversation(events []Event) ([]Message, error) {
	h, err := Fold(SliceLog(events))
	if err != nil {
		return nil, err
	}
	return h.Messages(), nil
}

// Head returns the Seq of the newest applied event.
func (h *History) Head() Seq { return h.head }

// Created returns the first event of the session.
func (h *History) Created() SessionCreated { return h.created }

// Settings returns the settings of the newest prompt.
func (h *History) Settings() Settings { return h.settings }

// Turns returns the number of turns, including undone ones.
func (h *History) Turns() int { return h.turns }

// Replies returns the number of replies, including undone ones.
func (h *History) Replies() int { return h.replies }

// Orders returns the requests that are not carried out yet, oldest first.
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

// Compactions returns the number of summaries that a model wrote for the session.
func (h *History) Compactions() int { return h.compactions }

// Compaction returns the newest compaction, or nil.
func (h *History) Compaction() *Compaction { return h.compaction }

// Open returns the open turn, or nil.
func (h *History) Open() *OpenTurn { return h.open }

// Waiting returns the prompts that no turn has taken in yet, oldest first.
func (h *History) Waiting() []Waiting { return h.waiting }

// Call returns the state of a call of the open turn, or nil.
func (h *History) Call(id CallID) *CallState { return h.calls[id] }

// CallIDUsed reports whether any call of the session, undone ones included, has
// this ID.
func (h *History) CallIDUsed(id CallID) bool {
	_, used := h.calls[id]
	return used
}

// Undone reports whether an event of the conversation was undone.
func (h *History) Undone(seq Seq) bool { return h.undone.has(seq) }

// Todos returns the model's todo list.
func (h *History) Todos() []Todo { return h.todos }

// Seen returns the [Result.Seen] hash of a file, or "".
func (h *History) Seen(path string) string { return h.seen[path] }

// Ask returns the ask of the open turn with this Seq, or nil.
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

// Messages returns the conversation. The slice is valid until the next Apply and
// must not be changed.
func (h *History) Messages() []Message {
	last := len(h.messages) - 1
	if last < 0 || h.messages[last].Role != RoleTool || !slices.Contains(h.messages[last].Parts, Part(nil)) {
		return h.messages
	}
	// Some calls of the newest reply have no result yet: return the others.
	messages := slices.Clone(h.messages)
	messages[last].Parts = slices.DeleteFunc(slices.Clone(messages[last].Parts), func(p Part) bool { return p == nil })
	if len(messages[last].Parts) == 0 {
		messages = messages[:last]
	}
	return messages
}

// Apply processes the next event. After [ErrRewound], read the log again with
// [Fold]. Any other error means that Pawl did not write this log (it has a gap, or
// a second result), and that it must not be acted on.
func (h *History) Apply(e Event) error {
	if e.Seq != h.head+1 {
		return fmt.Errorf("event %d follows event %d: events are missing from the log", e.Seq, h.head)
	}
	if _, begins := e.Body.(SessionCreated); begins != (e.Seq == 1) {
		return fmt.Errorf("event %d, %s: a log begins with the creation of its session, exactly once", e.Seq, KindOf(e.Body))
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

// skip processes an undone event. IDs and counters that it used remain used.
func (h *History) skip(e Event) {
	h.skipped = true
	switch b := e.Body.(type) {
	case TurnStarted:
		h.turns++
		h.undos = nil // earlier undos can no longer be redone
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

// arrive ends a range of undone events. An undo happens only while no turn is open
// and no prompt waits, so whatever is open or waiting now belongs to that range.
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
		if b.Pause && h.mission != nil {
			h.mission.Paused = e.Seq
		}
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
		return fmt.Errorf("an event of this kind cannot be in a log")
	}
	return nil
}
