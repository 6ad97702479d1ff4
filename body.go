package pawl

import "encoding/json"

// kinds lists every body. A body whose shape changes gets an upcast here
// (durable[Replied](fromV1)) and keeps its kind.
var kinds = map[Kind]kind{
	"session.created": durable[SessionCreated](),
	"session.titled":  durable[SessionTitled](),
	"prompted":        durable[Prompted](),
	"reworded":        durable[Reworded](),
	"withdrawn":       durable[Withdrawn](),
	"turn.started":    durable[TurnStarted](),
	"reply.started":   durable[ReplyStarted](),
	"retried":         durable[Retried](),
	"replied":         durable[Replied](),
	"call.started":    durable[CallStarted](),
	"asked":           durable[Asked](),
	"answered":        durable[Answered](),
	"todos.set":       durable[TodosSet](),
	"mode.changed":    durable[ModeChanged](),
	"spawned":         durable[Spawned](),
	"call.finished":   durable[CallFinished](),
	"injected":        durable[Injected](),
	"turn.finished":   durable[TurnFinished](),

	"session.shared":     durable[SessionShared](),
	"session.summarized": durable[SessionSummarized](),
	"compaction.asked":   durable[CompactionAsked](),
	"compacted":          durable[Compacted](),
	"undo.asked":         durable[UndoAsked](),
	"undone":             durable[Undone](),
	"shell.asked":        durable[ShellAsked](),
	"shell.started":      durable[ShellStarted](),
	"shell.ran":          durable[ShellRan](),

	"mission.started":   durable[MissionStarted](),
	"mission.planned":   durable[Planned](),
	"mission.criteria":  durable[CriteriaSet](),
	"mission.delegated": durable[Delegated](),
	"task.started":      durable[TaskStarted](),
	"task.merged":       durable[TaskMerged](),
	"task.returned":     durable[TaskReturned](),
	"check.ran":         durable[CheckRan](),
	"review.started":    durable[ReviewStarted](),
	"reviewed":          durable[Reviewed](),
	"gate.finished":     durable[GateResult](),
	"mission.sealed":    durable[Sealed](),
	"mission.blocked":   durable[Blocked](),

	"delta":    unsaved[Delta](),
	"progress": unsaved[Progress](),
	"status":   unsaved[Status](),
}

// SessionCreated is the first event of every session.
type SessionCreated struct {
	Dir        string    `json:"dir"` // the workspace, absolute
	Parent     SessionID `json:"parent,omitempty"`
	ParentCall CallID    `json:"parent_call,omitempty"` // the call that spawned this subagent
	Forked     *Origin   `json:"forked,omitempty"`      // the session that this one began as a copy of
	Owner      User      `json:"owner,omitempty"`       // whose it is; its subagents and forks have the same
}

// Origin is where a forked session's log was copied from.
type Origin struct {
	Session SessionID `json:"session"`
	At      Seq       `json:"at"` // what was before this event
}

// SessionTitled gave the session a name for people.
type SessionTitled struct {
	Title string `json:"title"`
	ModelUsage
}

// SessionShared says who may read the session beside its owner: these and no
// others, so that none takes it back.
type SessionShared struct {
	With []User `json:"with,omitempty"`
	By   Actor  `json:"by,omitzero"`
}

// SessionSummarized says in a few words what the session has come to.
type SessionSummarized struct {
	Summary string `json:"summary"`
	ModelUsage
}

// ModelUsage is the model call that wrote a title or a summary. The zero value
// means that a person wrote it.
type ModelUsage struct {
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
}

// CompactionAsked is a person's order to make the conversation smaller. It is
// carried out before the next step, and [Compacted] says what came of it.
type CompactionAsked struct {
	Instructions string `json:"instructions,omitempty"` // what matters, in their words
}

// Compacted put a summary in the place of the conversation before a message.
type Compacted struct {
	Asked   Seq      `json:"asked,omitempty"`   // the order; 0: pawl found it needful
	Keep    Seq      `json:"keep,omitempty"`    // messages from this one on stay; 0: nothing was replaced
	Text    string   `json:"text,omitempty"`    // what stands in place of those before
	Task    string   `json:"task,omitempty"`    // the part of Text that the person began with, for the next time
	Files   []string `json:"files,omitempty"`   // that were written to so far, for the next time
	Before  int      `json:"before,omitempty"`  // tokens of the conversation, by estimate
	After   int      `json:"after,omitempty"`   // likewise
	Message string   `json:"message,omitempty"` // to the person: why it was not done, or did not help
	ModelUsage
}

// UndoAsked is a person's order to go back to before a message, or to take
// such a step back. It is carried out while no turn is open, and [Undone] says
// what came of it.
type UndoAsked struct {
	Undo
	By Actor `json:"by,omitzero"`
}

// Undone says what came of a [UndoAsked]. Unless it was refused, the
// conversation, if it was to go back, is the one before the message.
type Undone struct {
	Asked   Seq               `json:"asked"`
	Refused string            `json:"refused,omitempty"` // why nothing was changed
	Changed []string          `json:"changed,omitempty"` // files that were put back
	Aside   map[string]string `json:"aside,omitempty"`   // files that somebody else had changed, to where they are kept now
	Left    []string          `json:"left,omitempty"`    // files that were left as somebody else had changed them
}

// Prompted records that a person's message was accepted. It enters the
// conversation when TurnStarted or Injected takes it in.
type Prompted struct {
	Parts    Parts    `json:"parts"`
	Delivery Delivery `json:"delivery,omitempty"`
	Again    Seq      `json:"again,omitempty"` // the prompt that this is once more: it was taken into a turn that an earlier cancel ended
	By       Actor    `json:"by,omitzero"`     // who sent it
	Settings
}

// Reworded replaced the words of a prompt that waits. It keeps its place.
type Reworded struct {
	Prompt Seq   `json:"prompt"`
	Parts  Parts `json:"parts"`
}

// Withdrawn took back a prompt that waited: nobody works on it.
type Withdrawn struct {
	Prompt Seq `json:"prompt"`
}

// TurnStarted took the prompt in and began to work on it.
type TurnStarted struct {
	Prompt Seq `json:"prompt"`
}

// ReplyStarted records that the model was called for this step of the turn.
type ReplyStarted struct {
	Step  int    `json:"step"`
	Model string `json:"model"`
}

// Retried records that the call of this step failed and is made again; what had
// come of its reply is void.
type Retried struct {
	Step int `json:"step"`
	Retry
}

// Replied is the model's reply, whole. It never changes after.
type Replied struct {
	Step   int    `json:"step"`
	Model  string `json:"model"`           // that wrote it, after failures perhaps not the one that was asked first
	Agent  string `json:"agent,omitempty"` // that it was written for
	Parts  Parts  `json:"parts"`
	Finish Finish `json:"finish"`
	Usage  Usage  `json:"usage,omitzero"`
}

// CallStarted is written before a call may have any effect, with all that it may touch.
type CallStarted struct {
	Call     CallID   `json:"call"`
	Tool     string   `json:"tool"`
	Access   []Access `json:"access,omitempty"`
	ReadOnly bool     `json:"read_only,omitempty"` // it may run again after a crash
	Snapshot string   `json:"snapshot,omitempty"`  // of the workspace before; "" if it cannot change it
	Unsafe   string   `json:"unsafe,omitempty"`    // why there is no snapshot, and so no way back

	Input json.RawMessage `json:"input,omitempty"` // what it runs with, if hooks have changed that; else it is the model's
}

// Asked put something to a person. The call goes on when it is Answered. Without
// a call it is the turn that asks.
type Asked struct {
	Call CallID `json:"call,omitempty"`
	Ask
}

// Answered ended an ask: a person's answer, or that there is none.
type Answered struct {
	Ask Seq   `json:"ask"`         // the Asked event
	By  Actor `json:"by,omitzero"` // who answered
	Answer
}

// TodosSet replaced the list that the model keeps of its work.
type TodosSet struct {
	Call  CallID `json:"call"`
	Todos []Todo `json:"todos"`
}

// ModeChanged changed how the rest of the turn, and later ones, may act.
type ModeChanged struct {
	Call CallID `json:"call"`
	Mode string `json:"mode"`
}

// Spawned gave an errand to a subagent session. It is written before the subagent is
// made, so that a call that runs again finds it.
type Spawned struct {
	Call       CallID    `json:"call"`
	Subagent   SessionID `json:"subagent"`
	Agent      string    `json:"agent"`
	Title      string    `json:"title"`
	Background bool      `json:"background,omitempty"`
}

// CallFinished is the one result of a call.
type CallFinished struct {
	Call   CallID     `json:"call"`
	Status CallStatus `json:"status"`
	Result Result     `json:"result"`

	Snapshot string `json:"snapshot,omitempty"` // of the workspace after; see [CallStarted]
}

// Injected put a text into the conversation in mid-turn: a person's steering
// (Prompt names it) or a word of the system's (Text).
type Injected struct {
	Source   string    `json:"source"` // user, max_steps, budget, task, loop, hook
	Prompt   Seq       `json:"prompt,omitempty"`
	Subagent SessionID `json:"subagent,omitempty"` // whose end this is
	Text     string    `json:"text,omitempty"`
}

// TurnFinished ended the turn. Usage is the sum over its replies, reported here once.
type TurnFinished struct {
	Reason  Reason `json:"reason"`
	Fault   Fault  `json:"fault,omitempty"`
	Message string `json:"message,omitempty"`
	Steps   int    `json:"steps"`
	Usage   Usage  `json:"usage,omitzero"`
}

// Delta is a piece of a growing reply. Offset counts the bytes of its channel
// before this piece, so that a watcher who comes late can join it to the draft.
type Delta struct {
	Reply   Seq     `json:"reply"` // the ReplyStarted event
	Channel Channel `json:"channel"`
	Offset  int     `json:"offset"`
	Text    string  `json:"text"`
}

// Progress is a piece of a running call's output, or of a command of the person's.
type Progress struct {
	Call CallID `json:"call"` // see [Seq.ShellCall]
	Text string `json:"text"`
}

// Status says what cannot be seen in the log: that the work on an open turn
// stopped (the store is gone, say), so that whoever waits for its end need not;
// or something that a person is to know, from a hook.
type Status struct {
	State   string `json:"state"` // interrupted, notice
	Message string `json:"message"`
}

func (SessionCreated) kind() Kind    { return "session.created" }
func (SessionTitled) kind() Kind     { return "session.titled" }
func (Prompted) kind() Kind          { return "prompted" }
func (Reworded) kind() Kind          { return "reworded" }
func (Withdrawn) kind() Kind         { return "withdrawn" }
func (TurnStarted) kind() Kind       { return "turn.started" }
func (ReplyStarted) kind() Kind      { return "reply.started" }
func (Retried) kind() Kind           { return "retried" }
func (Replied) kind() Kind           { return "replied" }
func (CallStarted) kind() Kind       { return "call.started" }
func (Asked) kind() Kind             { return "asked" }
func (Answered) kind() Kind          { return "answered" }
func (TodosSet) kind() Kind          { return "todos.set" }
func (ModeChanged) kind() Kind       { return "mode.changed" }
func (Spawned) kind() Kind           { return "spawned" }
func (CallFinished) kind() Kind      { return "call.finished" }
func (Injected) kind() Kind          { return "injected" }
func (TurnFinished) kind() Kind      { return "turn.finished" }
func (SessionShared) kind() Kind     { return "session.shared" }
func (SessionSummarized) kind() Kind { return "session.summarized" }
func (CompactionAsked) kind() Kind   { return "compaction.asked" }
func (Compacted) kind() Kind         { return "compacted" }
func (UndoAsked) kind() Kind         { return "undo.asked" }
func (Undone) kind() Kind            { return "undone" }
func (ShellAsked) kind() Kind        { return "shell.asked" }
func (ShellStarted) kind() Kind      { return "shell.started" }
func (ShellRan) kind() Kind          { return "shell.ran" }
func (Delta) kind() Kind             { return "delta" }
func (Progress) kind() Kind          { return "progress" }
func (Status) kind() Kind            { return "status" }
