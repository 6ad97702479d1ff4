package pawl

import "time"

// MissionOrder is what a person wants of a mission: a goal that is worked on until
// it is proven to be reached. What it does not say is found out or has a default.
type MissionOrder struct {
	Goal      string        `json:"goal"`
	Criteria  []Criterion   `json:"criteria,omitempty"`  // the Planner may add to them, and nobody takes one away
	Checks    []Check       `json:"checks,omitempty"`    // none means those that the project brings
	Protected []string      `json:"protected,omitempty"` // patterns of files that must stay as they are
	Approval  Approval      `json:"approval,omitzero"`
	Workers   int           `json:"workers,omitempty"`   // at once
	Model     string        `json:"model,omitempty"`     // of the workers; "" means that of the Commander
	Reviewers []string      `json:"reviewers,omitempty"` // their models, one each; none means one with the Commander's
	Stuck     time.Duration `json:"stuck,omitempty"`     // without a sign for so long a worker is asked, and then ended
}

// Defaults and bounds of a mission: everything ends.
const (
	MissionWorkers    = 3
	MissionMaxWorkers = 32
	MissionStuck      = 10 * time.Minute
	MissionTime       = 12 * time.Hour // of one turn, unless it has a bound of its own
	MissionReturns    = 2              // of a task; then the Commander has to plan anew
	MissionNudges     = 5              // in a row that come to nothing, then it is blocked
	MissionRounds     = 10             // of the gate, then it is blocked
	MissionAttempts   = 500            // at all tasks, then it is blocked
	MaxReviewers      = 5
)

// MissionStarted makes a session that of a mission's Commander. It comes before
// its first prompt.
type MissionStarted struct {
	Order MissionOrder `json:"order"`
	By    Actor        `json:"by,omitzero"`
}

// Planned says what is to be done from now on. Tasks that are in it already keep
// their state; tasks that are in it no more are dropped.
type Planned struct {
	Plan Plan   `json:"plan"`
	By   string `json:"by"` // commander, planner or user
}

// CriteriaSet records the criteria of a mission. It occurs once, before any work.
type CriteriaSet struct {
	Criteria Criteria `json:"criteria"`
	Hash     string   `json:"hash"`
	Branch   string   `json:"branch"` // where the work is put together; it begins at the base
}

// Delegated says which tasks may be worked on, once what they come after is merged.
type Delegated struct {
	Tasks []string `json:"tasks"`
}

// TaskStarted gives a task to a worker. It comes before the worker is made, so
// whoever finds it without one makes it.
type TaskStarted struct {
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Worker  SessionID `json:"worker"` // the worker's session; its worktree has the same name
	Base    string    `json:"base"`   // the commit that its work is compared with
	From    string    `json:"from"`   // the commit whose files it finds; the base, or what an attempt before has left
}

// TaskMerged says that the work on a task is on the mission's branch.
type TaskMerged struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Commit  string `json:"commit"` // the new tip; the old one if nothing had to change
}

// TaskReturned says why an attempt came to nothing. The task can be tried again.
type TaskReturned struct {
	Task    string       `json:"task"`
	Attempt int          `json:"attempt"`
	Why     ReturnReason `json:"why"`
	Text    string       `json:"text"`           // the evidence, for the next worker
	Base    string       `json:"base,omitempty"` // for the next attempt: see TaskStarted
	From    string       `json:"from,omitempty"`
}

// ReturnReason is why an attempt at a task came to nothing.
type ReturnReason string

// The reasons.
const (
	ReturnConflict  ReturnReason = "conflict"  // it does not fit together with what was merged meanwhile
	ReturnCheck     ReturnReason = "check"     // the merged tree fails a check
	ReturnProtected ReturnReason = "protected" // it changes files that must stay as they are
	ReturnRefused   ReturnReason = "refused"   // its files cannot be taken over
	ReturnFailed    ReturnReason = "failed"    // the worker came to no end of its own
	ReturnStuck     ReturnReason = "stuck"     // the worker gave no sign
	ReturnCanceled  ReturnReason = "canceled"  // the Commander took it back
	ReturnStopped   ReturnReason = "stopped"   // the mission was stopped meanwhile: it is begun again by itself
)

// CheckRan is a check that pawl itself ran, in a chain: each link has the hash of
// the one before, so that none can be changed, left out or put in later.
type CheckRan struct {
	CheckRun
	Round int    `json:"round,omitempty"` // of the gate; 0 is the baseline or a merge
	Task  string `json:"task,omitempty"`  // of a merge
	Prev  string `json:"prev,omitempty"`  // the hash of the CheckRan before; "" for the first
	Hash  string `json:"hash"`            // of this one, with Prev and without itself
}

// Link puts the check behind the one before it.
func (c CheckRan) Link(prev string) CheckRan {
	c.Prev, c.Hash = prev, ""
	c.Hash = digest(c)
	return c
}

// ReviewStarted has a reviewer look at a candidate.
type ReviewStarted struct {
	Round    int       `json:"round"`
	Reviewer SessionID `json:"reviewer"`
	Model    string    `json:"model,omitempty"`
}

// Reviewed is what a reviewer found. A verdict that nobody can read is a fault.
type Reviewed struct {
	Round    int         `json:"round"`
	Reviewer SessionID   `json:"reviewer"`
	Holds    []Judgment  `json:"holds,omitempty"` // a word to each criterion and suspicion
	Faults   []GateFault `json:"faults,omitempty"`
}

// Judgment is a reviewer's word to one criterion or suspicion.
type Judgment struct {
	ID    string `json:"id" jsonschema:"of the criterion or suspicion"`
	Holds bool   `json:"holds" jsonschema:"of a criterion: the change meets it; of a suspicion: there is an honest reason for what is seen"`
	Why   string `json:"why" jsonschema:"what you saw that shows it, with files and lines"`
}

// GateResult is the result of the gate. Without faults the mission is sealed.
type GateResult struct {
	Round      int         `json:"round"`
	Candidate  string      `json:"candidate"`
	Tree       string      `json:"tree"`
	Faults     []GateFault `json:"faults,omitempty"`
	Suspicions []GateFault `json:"suspicions,omitempty"`
	Flaky      []string    `json:"flaky,omitempty"`
	Before     []string    `json:"before,omitempty"`
}

// Sealed says that the mission is proven to be done.
type Sealed struct {
	Round     int    `json:"round"`
	Candidate string `json:"candidate"` // the commit
	Tree      string `json:"tree"`
	Criteria  string `json:"criteria"` // the hash of what had to hold
	Chain     string `json:"chain"`    // the hash of the newest CheckRan
}

// Blocked says why a mission cannot go on by itself. A prompt makes it go on.
type Blocked struct {
	Reason string `json:"reason"`
	By     string `json:"by"` // commander, or pawl when a bound is reached
}

func (MissionStarted) kind() Kind { return "mission.started" }
func (Planned) kind() Kind        { return "mission.planned" }
func (CriteriaSet) kind() Kind    { return "mission.criteria" }
func (Delegated) kind() Kind      { return "mission.delegated" }
func (TaskStarted) kind() Kind    { return "task.started" }
func (TaskMerged) kind() Kind     { return "task.merged" }
func (TaskReturned) kind() Kind   { return "task.returned" }
func (CheckRan) kind() Kind       { return "check.ran" }
func (ReviewStarted) kind() Kind  { return "review.started" }
func (Reviewed) kind() Kind       { return "reviewed" }
func (GateResult) kind() Kind     { return "gate.finished" }
func (Sealed) kind() Kind         { return "mission.sealed" }
func (Blocked) kind() Kind        { return "mission.blocked" }

// sourceMission is the [Injected.Source] of what mission control tells the Commander.
const sourceMission = "mission"
