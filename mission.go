package pawl

import "time"

// MissionOrder describes a mission: a goal that agents work on until it is
// verified. [MissionOrder.Complete] sets the defaults.
type MissionOrder struct {
	Goal      string        `json:"goal"`
	Criteria  []Criterion   `json:"criteria,omitempty"`  // the planner may add to them, and none is ever removed
	Checks    []Check       `json:"checks,omitempty"`    // none means those of the project
	Protected []string      `json:"protected,omitempty"` // patterns of files that must not change
	Approval  Approval      `json:"approval,omitzero"`
	Workers   int           `json:"workers,omitempty"`   // maximum number of concurrent workers
	Model     string        `json:"model,omitempty"`     // of the workers; "" means that of the Commander
	Reviewers []string      `json:"reviewers,omitempty"` // one model per reviewer; none means one reviewer with the Commander's model
	Stuck     time.Duration `json:"stuck,omitempty"`     // a worker that is silent for this long is asked, then stopped

	ApprovePlan bool `json:"approve_plan,omitempty"` // a task starts only after a person has approved it; see [Prompt.Approve]
}

// Defaults and limits of a mission.
const (
	MissionWorkers    = 3
	MissionMaxWorkers = 32
	MissionStuck      = 10 * time.Minute
	MissionTime       = 12 * time.Hour // of one turn, unless its settings have a limit
	MissionReturns    = 2              // of a task; after that the Commander has to plan again
	MissionNudges     = 5              // in a row without effect; after that the mission is blocked
	MissionRounds     = 10             // of the gate; after that the mission is blocked
	MissionAttempts   = 500            // at all tasks together; after that the mission is blocked
	MaxReviewers      = 5
)

// MissionStarted makes the session that of a mission's Commander. It precedes the
// first prompt.
type MissionStarted struct {
	Order MissionOrder `json:"order"`
	By    Actor        `json:"by,omitzero"`
}

// Planned replaced the plan. Tasks that were in the plan before keep their state;
// tasks that are no longer in it are dropped.
type Planned struct {
	Plan Plan   `json:"plan"`
	By   string `json:"by"` // commander, planner or user
}

// CriteriaSet records the criteria of a mission, once and before any work.
type CriteriaSet struct {
	Criteria Criteria `json:"criteria"`
	Hash     string   `json:"hash"`
	Branch   string   `json:"branch"` // the branch on which results are merged; it starts at the base
}

// Delegated queued tasks. Each starts once the tasks before it are merged.
type Delegated struct {
	Tasks []string `json:"tasks"`
}

// TaskStarted gives a task to a worker. It precedes the worker's session, which is
// created by whoever finds the event without one.
type TaskStarted struct {
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Worker  SessionID `json:"worker"` // the worker's session; its worktree has the same name
	Base    string    `json:"base"`   // the commit that its work is compared with
	From    string    `json:"from"`   // the commit that it starts from: the base, or the result of an earlier attempt
}

// TaskMerged records that the result of a task is on the mission's branch.
type TaskMerged struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Commit  string `json:"commit"` // the new tip; unchanged if there was nothing to merge

	Outside []string `json:"outside,omitempty"` // files that it changed and does not own
}

// TaskReturned records why an attempt failed. The task can be tried again.
type TaskReturned struct {
	Task    string       `json:"task"`
	Attempt int          `json:"attempt"`
	Why     ReturnReason `json:"why"`
	Text    string       `json:"text"`           // the evidence, for the next worker
	Base    string       `json:"base,omitempty"` // for the next attempt; see TaskStarted
	From    string       `json:"from,omitempty"`
}

// ReturnReason is why an attempt at a task failed.
type ReturnReason string

// The reasons.
const (
	ReturnConflict  ReturnReason = "conflict"  // it conflicts with what was merged since it started
	ReturnCheck     ReturnReason = "check"     // the merged tree fails a check
	ReturnProtected ReturnReason = "protected" // it changes protected files
	ReturnOutside   ReturnReason = "outside"   // it changes files that it does not own
	ReturnRefused   ReturnReason = "refused"   // its files cannot be collected
	ReturnFailed    ReturnReason = "failed"    // the worker's turn failed
	ReturnStuck     ReturnReason = "stuck"     // the worker was silent for too long
	ReturnCanceled  ReturnReason = "canceled"  // the Commander canceled it
	ReturnStopped   ReturnReason = "stopped"   // the mission was stopped; the task restarts automatically
)

// CheckRan records a check that Pawl ran, as a link of a hash chain: no link can be
// changed, removed or inserted later.
type CheckRan struct {
	CheckRun
	Round int    `json:"round,omitempty"` // of the gate; 0 is the baseline or a merge
	Task  string `json:"task,omitempty"`  // of a merge
	Prev  string `json:"prev,omitempty"`  // Hash of the previous CheckRan; "" for the first
	Hash  string `json:"hash"`            // of this link, including Prev
}

// Link returns the check as the link after prev.
func (c CheckRan) Link(prev string) CheckRan {
	c.Prev, c.Hash = prev, ""
	c.Hash = digest(c)
	return c
}

// ReviewStarted gives a candidate to a reviewer.
type ReviewStarted struct {
	Round    int       `json:"round"`
	Reviewer SessionID `json:"reviewer"`
	Model    string    `json:"model,omitempty"`
}

// Reviewed is the verdict of a reviewer. An unreadable verdict counts as a fault.
type Reviewed struct {
	Round    int         `json:"round"`
	Reviewer SessionID   `json:"reviewer"`
	Holds    []Judgment  `json:"holds,omitempty"` // one for each criterion
	Faults   []GateFault `json:"faults,omitempty"`
}

// Judgment is a reviewer's verdict on one criterion.
type Judgment struct {
	ID    string `json:"id" jsonschema:"of the criterion"`
	Holds bool   `json:"holds" jsonschema:"the change meets the criterion"`
	Why   string `json:"why" jsonschema:"what you saw that shows it, with files and lines"`
}

// GateResult is the result of one round of the gate. Without faults the mission can
// be sealed.
type GateResult struct {
	Round     int         `json:"round"`
	Candidate string      `json:"candidate"`
	Tree      string      `json:"tree"`
	Verdict   string      `json:"verdict"`           // failed, checked, no code changed or proven
	Holding   int         `json:"holding,omitempty"` // tests of the base that pass on the new code
	New       int         `json:"new,omitempty"`     // new tests that fail on the old code
	Mutants   int         `json:"mutants,omitempty"` // mistakes that were made on purpose in the changed lines
	Killed    int         `json:"killed,omitempty"`  // mistakes that the checks noticed
	Faults    []GateFault `json:"faults,omitempty"`
	Notes     []GateFault `json:"notes,omitempty"` // what reviewers should look at
}

// The verdicts with which a mission can be sealed.
const (
	verdictNoCode = "no code changed" // documentation, configuration or tests only, and the tests are as strong as before
	verdictProven = "proven"          // nothing fails, and the tests notice mistakes in the changed lines
)

// Sealed records that the mission is verified.
type Sealed struct {
	Round     int    `json:"round"`
	Candidate string `json:"candidate"` // the commit
	Tree      string `json:"tree"`
	Criteria  string `json:"criteria"`           // the hash of the criteria
	Chain     string `json:"chain"`              // the hash of the newest CheckRan
	Reviewed  int    `json:"reviewed,omitempty"` // criteria, without the goal, that only reviewers have confirmed
	Total     int    `json:"total,omitempty"`    // all criteria, without the goal
}

// Blocked records why a mission cannot continue by itself. A new prompt continues
// it.
type Blocked struct {
	Reason string       `json:"reason"`
	By     string       `json:"by"`              // commander, or pawl when a limit is reached or the plan waits for approval, or user if paused
	State  MissionState `json:"state,omitempty"` // planned if the plan waits for approval, or paused; "" means blocked
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

// sourceMission is the [Injected.Source] of messages of mission control to the
// Commander.
const sourceMission = "mission"
