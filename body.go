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
	Dir        string    `json:"dir"` // the working directory, absolute
	Parent     SessionID `json:"parent,omitempty"`
	ParentCall CallID    `json:"parent_call,omitempty"` // the tool call that spawned this subagent
	Forked     *Origin   `json:"forked,omitempty"`      // set in a fork: the session that it was copied from
	Owner      User      `json:"owner,omitempty"`       // the owner; subagents and forks have the same one
}

// Origin is the point of a log that a fork was copied from.
type Origin struct {
	Session SessionID `json:"session"`
	At      Seq       `json:"at"` // the events before this one were copied
}

// SessionTitled set the title of the session.
type SessionTitled struct {
	Title string `json:"title"`
	ModelUsage
}

// SessionShared set the users who may read the session in addition to its owner. It
// replaces the previous list; an empty list ends sharing.
type SessionShared struct {
	With []User `json:"with,omitempty"`
	By   Actor  `json:"by,omitzero"`
}

// SessionSummarized set the short summary of the session that lists show.
type SessionSummarized struct {
	Summary string `json:"summary"`
	ModelUsage
}

// ModelUsage is the model call that wrote a title or a summary. The zero value
// means that a user wrote it.
type ModelUsage struct {
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
}

// CompactionAsked is a request by the user to compact the conversation. It is
// carried out before the next step, and reported by [Compacted].
type CompactionAsked struct {
	Instructions string `json:"instructions,omitempty"` // what matters, in the user's words
}

// Compacted replaced the conversation before a message by a summary.
type Compacted struct {
	Asked   Seq      `json:"asked,omitempty"`   // the CompactionAsked event; 0: automatic
	Keep    Seq      `json:"keep,omitempty"`    // messages from this one on are kept; 0: nothing was replaced
	Text    string   `json:"text,omitempty"`    // the summary
	Task    string   `json:"task,omitempty"`    // the part of Text that quotes the original task, for the next compaction
	Files   []string `json:"files,omitempty"`   // files written so far, for the next compaction
	Before  int      `json:"before,omitempty"`  // estimated size of the conversation, in tokens
	After   int      `json:"after,omitempty"`   // the same, after the compaction
	Message string   `json:"message,omitempty"` // for the user: why nothing was compacted, or why it did not help
	ModelUsage
}

// UndoAsked is a request by the user to undo everything since a message, or to redo
// it. It is carried out while no turn is open, and reported by [Undone].
type UndoAsked struct {
	Undo
	By Actor `json:"by,omitzero"`
}

// Undone is the result of an [UndoAsked]. Unless it was refused, the events since
// the message no longer count, for the conversation, the files or both.
type Undone struct {
	Asked   Seq               `json:"asked"`
	Refused string            `json:"refused,omitempty"` // why nothing was changed
	Changed []string          `json:"changed,omitempty"` // files that were restored
	Aside   map[string]string `json:"aside,omitempty"`   // files that had other changes: where those are kept now
	Left    []string          `json:"left,omitempty"`    // files that had other changes and were left alone
}

// Prompted records that a prompt was accepted. It enters the conversation with a
// TurnStarted or Injected event.
type Prompted struct {
	Parts    Parts    `json:"parts"`
	Delivery Delivery `json:"delivery,omitempty"`
	Again    Seq      `json:"again,omitempty"` // the prompt that this one repeats: it was part of a turn that a cancel before it ended
	By       Actor    `json:"by,omitzero"`     // who sent it
	Settings

	Approve *Plan `json:"approve,omitempty"` // of a mission: the plan that By has approved, whose tasks may start with the turn
	Pause   bool  `json:"pause,omitempty"`   // of a mission: no more workers start before the turn of a later prompt
}

// Reworded replaced the text of a waiting prompt, which keeps its position.
type Reworded struct {
	Prompt Seq   `json:"prompt"`
	Parts  Parts `json:"parts"`
	By     Actor `json:"by,omitzero"` // who did; the zero value also stands for a hook
}

// Withdrawn removed a waiting prompt.
type Withdrawn struct {
	Prompt Seq `json:"prompt"`
}

// TurnStarted started the turn that works on a prompt.
type TurnStarted struct {
	Prompt Seq `json:"prompt"`
}

// ReplyStarted records that the model was called for a step of the turn.
type ReplyStarted struct {
	Step  int    `json:"step"`
	Model string `json:"model"`
}

// Retried records that the model call of a step failed and is repeated. Anything
// streamed of its reply so far is invalid.
type Retried struct {
	Step int `json:"step"`
	Retry
}

// Replied is the complete reply of the model.
type Replied struct {
	Step   int    `json:"step"`
	Model  string `json:"model"`           // that wrote it; after failures this may be a fallback
	Agent  string `json:"agent,omitempty"` // that it was written for
	Parts  Parts  `json:"parts"`
	Finish Finish `json:"finish"`
	Usage  Usage  `json:"usage,omitzero"`
}

// CallStarted is written before a tool call can have any effect, with everything
// that it may access.
type CallStarted struct {
	Call     CallID   `json:"call"`
	Tool     string   `json:"tool"`
	Access   []Access `json:"access,omitempty"`
	ReadOnly bool     `json:"read_only,omitempty"` // it can be repeated after a crash
	Snapshot string   `json:"snapshot,omitempty"`  // of the workspace before the call; "" if the call cannot change it
	Unsafe   string   `json:"unsafe,omitempty"`    // why there is no snapshot, so that the call cannot be undone

	// Snapshots of the directories in [Settings.AddDirs] before the call, by path. ""
	// means no snapshot, so that changes there cannot be undone.
	DirSnapshots map[string]string `json:"dir_snapshots,omitempty"`

	Input json.RawMessage `json:"input,omitempty"` // the effective input, if hooks changed it; otherwise the model's input applies
}

// Asked asks the user. The call continues once it is [Answered]. Without a Call,
// the turn itself asks.
type Asked struct {
	Call CallID `json:"call,omitempty"`
	Ask
}

// Answered ended an ask, with or without an answer.
type Answered struct {
	Ask Seq   `json:"ask"`         // the Asked event
	By  Actor `json:"by,omitzero"` // who answered
	Answer
}

// TodosSet replaced the model's todo list.
type TodosSet struct {
	Call  CallID `json:"call"`
	Todos []Todo `json:"todos"`
}

// ModeChanged changed the permission mode for the rest of the turn and for later
// turns.
type ModeChanged struct {
	Call CallID `json:"call"`
	Mode string `json:"mode"`
}

// Spawned gave a subtask to a subagent session. It is written before that session
// is created, so that a repeated call finds it.
type Spawned struct {
	Call       CallID    `json:"call"`
	Subagent   SessionID `json:"subagent"`
	Agent      string    `json:"agent"`
	Title      string    `json:"title"`
	Background bool      `json:"background,omitempty"`
}

// CallFinished is the result of a tool call. Every call has exactly one.
type CallFinished struct {
	Call   CallID     `json:"call"`
	Status CallStatus `json:"status"`
	Result Result     `json:"result"`

	Snapshot     string            `json:"snapshot,omitempty"`      // of the workspace after the call; see [CallStarted]
	DirSnapshots map[string]string `json:"dir_snapshots,omitempty"` // of the added directories after the call
}

// Injected added a message to the conversation during a turn: a steering prompt
// (Prompt) or a text of the program (Text).
type Injected struct {
	Source   string    `json:"source"` // user, max_steps, budget, task, loop, hook
	Prompt   Seq       `json:"prompt,omitempty"`
	Subagent SessionID `json:"subagent,omitempty"` // the finished subagent that the text reports
	Text     string    `json:"text,omitempty"`
}

// TurnFinished ended the turn. Usage is the sum over its replies and those of its
// subagents, and is reported only here.
type TurnFinished struct {
	Reason  Reason `json:"reason"`
	Fault   Fault  `json:"fault,omitempty"`
	Message string `json:"message,omitempty"`
	Steps   int    `json:"steps"`
	Usage   Usage  `json:"usage,omitzero"`
}

// Delta is a piece of a reply that is being streamed. Offset is the number of bytes
// of its channel before this piece, so that a late reader can join it to the
// [Draft].
type Delta struct {
	Reply   Seq     `json:"reply"` // the ReplyStarted event
	Channel Channel `json:"channel"`
	Offset  int     `json:"offset"`
	Text    string  `json:"text"`
}

// Progress is a piece of output of a running tool call or shell command.
type Progress struct {
	Call CallID `json:"call"` // of a shell command: see [Seq.ShellCall]
	Text string `json:"text"`
}

// Status reports what the log cannot: that the work on an open turn stopped, for
// example because the store failed, or a notice of a hook to the user.
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
