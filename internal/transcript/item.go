package transcript

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl"
)

// Kind is the kind of an item.
type Kind string

// The kinds.
const (
	KindUser      Kind = "user"      // a prompt
	KindText      Kind = "text"      // text of the model
	KindReasoning Kind = "reasoning" // reasoning of the model
	KindCall      Kind = "call"      // a tool call, or a shell command of the user
	KindAsk       Kind = "ask"       // a question or a permission request
	KindTodos     Kind = "todos"     // the model's todo list
	KindSubagent  Kind = "subagent"  // a session that works on a part of the task
	KindNote      Kind = "note"      // something that happened: a retry, a compaction, an undo
	KindMission   Kind = "mission"   // a step of a mission
	KindTurnEnd   Kind = "turn_end"  // the end of a turn
)

// State is the state of an item. Items without progress are done from the start.
type State string

// The states.
const (
	StateWaiting   State = "waiting"   // a prompt that the model has not read, a call that has not started, an ask without an answer
	StateStreaming State = "streaming" // more text of the model follows
	StateRunning   State = "running"
	StateDone      State = "done"
	StateFailed    State = "failed" // also denied and canceled
)

// Level is the importance of a note, of a step of a mission and of the end of a turn.
type Level string

// The levels, from routine to failure.
const (
	LevelQuiet Level = ""
	LevelGood  Level = "good"
	LevelWarn  Level = "warning"
	LevelBad   Level = "error"
)

// Item is one entry of a transcript. Later events can replace it by one with the same ID. Its
// texts are untrusted.
type Item struct {
	ID    string    `json:"id"` // unique in the session
	Kind  Kind      `json:"kind"`
	Seq   pawl.Seq  `json:"seq"`            // the event that determines its position
	Part  int       `json:"part,omitempty"` // its position among the items of that event
	Turn  int       `json:"turn,omitempty"`
	At    time.Time `json:"at"`
	State State     `json:"state"`

	Text   string      `json:"text,omitempty"`   // a message, a line of a note, the output of a call so far
	Level  Level       `json:"level,omitempty"`  // of a note, a step of a mission or the end of a turn
	More   string      `json:"more,omitempty"`   // details of a note or a step of a mission
	Next   string      `json:"next,omitempty"`   // what the user can do about it
	Source string      `json:"source,omitempty"` // of a note about a text that was added to the conversation: who added it, e.g. task, hook or budget
	By     pawl.Actor  `json:"by,omitzero"`      // who sent a prompt, ran a command or answered
	Files  []pawl.File `json:"files,omitempty"`  // attachments of a prompt

	Steered  bool              `json:"steered,omitempty"` // a prompt that the model reads during a turn
	Queued   bool              `json:"queued,omitempty"`  // a waiting prompt that starts another turn
	Took     time.Duration     `json:"took,omitempty"`    // how long reasoning, a call or a turn took
	Until    time.Time         `json:"until,omitzero"`    // of a note about a retry: when it happens; of an ask: when it expires
	Call     *Call             `json:"call,omitempty"`
	Ask      *Ask              `json:"ask,omitempty"`
	Subagent *pawl.Spawned     `json:"subagent,omitempty"`
	Todos    []pawl.Todo       `json:"todos,omitempty"`
	Mission  pawl.MissionState `json:"mission,omitempty"` // the state in which a step left the mission, if it ended or waits
	End      *End              `json:"end,omitempty"`
	Unsaved  bool              `json:"unsaved,omitempty"` // the log does not have it: whoever reconnects forgets it
	Cut      bool              `json:"cut,omitempty"`     // texts were cut, or files left out; the events have them
}

// Call is a tool call or a shell command of the user.
type Call struct {
	ID      pawl.CallID     `json:"id"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input,omitempty"`   // the effective input, if hooks changed it
	Targets []string        `json:"targets,omitempty"` // what it reads, changes or runs, known when it starts
	User    bool            `json:"user,omitempty"`    // the user ran it
	Started time.Time       `json:"started,omitzero"`
	Status  pawl.CallStatus `json:"status,omitempty"` // "" until it has ended
	Result  pawl.Result     `json:"result,omitzero"`
	Unsafe  string          `json:"unsafe,omitempty"` // why it cannot be undone
	Ask     string          `json:"ask,omitempty"`    // the item of the ask that it waits for
}

// Ask is a question or a permission request, and its answer.
type Ask struct {
	Seq  pawl.Seq    `json:"seq"` // the Asked event, which answers refer to
	Call pawl.CallID `json:"call,omitempty"`
	pawl.Ask
	Choices []Choice     `json:"choices,omitempty"` // answers to offer; the user can also write one
	Answer  *pawl.Answer `json:"answer,omitempty"`
}

// Choice is an answer that front ends offer.
type Choice struct {
	Name   string      `json:"name"` // allow, always, deny, continue, stop, or an option of the question
	Label  string      `json:"label"`
	Answer pawl.Answer `json:"answer"`
}

// End is the end of a turn.
type End struct {
	Reason pawl.Reason `json:"reason"`
	Fault  pawl.Fault  `json:"fault,omitempty"`
	Steps  int         `json:"steps,omitempty"`
	Usage  pawl.Usage  `json:"usage,omitzero"`
}

// Compare orders items by position.
func Compare(a, b Item) int { return position(&a, &b) }

func position(a, b *Item) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Part, b.Part)) }
