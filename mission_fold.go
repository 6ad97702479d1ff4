package pawl

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/fault"
)

// Mission is the state of a mission, folded from the log of its Commander
// session. The fold rejects a log that seals a mission without a passed gate.
type Mission struct {
	Order    MissionOrder `json:"order"`
	Began    time.Time    `json:"began"`
	Criteria *Criteria    `json:"criteria,omitempty"` // nil until they are set
	Hash     string       `json:"hash,omitempty"`     // of the criteria
	Branch   string       `json:"branch,omitempty"`
	Tip      string       `json:"tip,omitempty"` // the newest commit on the branch
	Plans    int          `json:"plans"`         // number of times it was planned
	Tasks    []TaskState  `json:"tasks"`         // in plan order, dropped ones last
	Attempts int          `json:"attempts"`      // at all tasks together
	Round    int          `json:"round"`         // number of gate rounds
	Runs     []CheckRan   `json:"runs,omitempty"`
	Reviews  []Reviewed   `json:"reviews,omitempty"` // of the newest round, like Runs
	Gate     *GateResult  `json:"gate,omitempty"`    // the newest gate result; nil once the branch has moved since
	Sealed   *Sealed      `json:"sealed,omitempty"`
	Blocked  *Blocked     `json:"blocked,omitempty"`
	Chain    string       `json:"chain,omitempty"` // the hash of the newest CheckRan
	Nudges   int          `json:"nudges,omitempty"`

	Paused Seq `json:"paused,omitempty"` // the prompt that paused it; 0 if no prompt has, or a later one continued it

	Approved   string `json:"approved,omitempty"`   // the hash of the plan that was approved last; see TaskState.Approved
	ApprovedBy Actor  `json:"approved_by,omitzero"` // who approved it

	News []string    `json:"-"` // tasks with changes that the Commander has not seen yet
	Team []SessionID `json:"-"` // all workers and reviewers so far
}

// TaskState is the state of a task.
type TaskState struct {
	Task    Task         `json:"task"`
	Phase   TaskPhase    `json:"phase"`
	Attempt int          `json:"attempt,omitempty"`
	Returns int          `json:"returns,omitempty"` // since it was last planned
	Worker  SessionID    `json:"worker,omitempty"`  // the session of the newest worker
	Base    string       `json:"base,omitempty"`    // of the newest attempt, or of the next one
	From    string       `json:"from,omitempty"`    // likewise
	Commit  string       `json:"commit,omitempty"`  // by which it was merged
	Outside []string     `json:"outside,omitempty"` // files that were merged with it and that it does not own
	Why     ReturnReason `json:"why,omitempty"`     // why the newest attempt failed
	Text    string       `json:"text,omitempty"`    // the evidence for that
	Began   time.Time    `json:"began,omitzero"`    // start of the newest attempt
	Ended   time.Time    `json:"ended,omitzero"`

	Took    time.Duration `json:"took,omitempty"` // of all attempts that have ended
	Usage   Usage         `json:"usage,omitzero"` // of the workers of all attempts; only a Board has it
	Workers []SessionID   `json:"-"`              // of all attempts

	Approved bool `json:"approved,omitempty"` // a person has approved the task as it is; only if the order demands it
}

// TaskPhase is the phase of a task.
type TaskPhase string

// The phases.
const (
	PhasePlanned  TaskPhase = "planned"  // not delegated yet
	PhaseQueued   TaskPhase = "queued"   // starts as soon as possible
	PhaseRunning  TaskPhase = "running"  // a worker works on it, or its result is being merged
	PhaseMerged   TaskPhase = "merged"   // on the branch
	PhaseDropped  TaskPhase = "dropped"  // no longer in the plan
	PhaseReturned TaskPhase = "returned" // failed too often or canceled: the Commander decides
)

// MissionState is the state of a mission.
type MissionState string

// The states.
const (
	MissionWorking MissionState = "working"
	MissionPlanned MissionState = "planned" // the plan waits for approval
	MissionPaused  MissionState = "paused"  // by the user; no worker runs
	MissionSealed  MissionState = "sealed"
	MissionBlocked MissionState = "blocked"
	MissionStopped MissionState = "stopped" // nobody works on it: canceled, out of budget, or failed
)

// Plan returns the current plan.
func (m *Mission) Plan() Plan {
	var p Plan
	for _, t := range m.Tasks {
		if t.Phase != PhaseDropped {
			p.Tasks = append(p.Tasks, t.Task)
		}
	}
	return p
}

// Task returns a task of the current plan, or nil.
func (m *Mission) Task(id string) *TaskState {
	for i := range m.Tasks {
		if m.Tasks[i].Task.ID == id && m.Tasks[i].Phase != PhaseDropped {
			return &m.Tasks[i]
		}
	}
	return nil
}

// In returns the tasks in a phase, in plan order.
func (m *Mission) In(phase TaskPhase) []TaskState {
	var list []TaskState
	for _, t := range m.Tasks {
		if t.Phase == phase {
			list = append(list, t)
		}
	}
	return list
}

// Open returns the tasks that must be merged or dropped before the mission can be
// sealed.
func (m *Mission) Open() []TaskState {
	return slices.DeleteFunc(slices.Clone(m.Tasks), func(t TaskState) bool { return t.Phase == PhaseMerged || t.Phase == PhaseDropped })
}

// Issues returns the unresolved integration problems: tasks whose result conflicts
// with what is merged, or fails its checks.
func (m *Mission) Issues() []TaskState {
	return slices.DeleteFunc(m.Open(), func(t TaskState) bool { return t.Why != ReturnConflict && t.Why != ReturnCheck })
}

// Clone returns a copy that can be changed independently.
func (m *Mission) Clone() *Mission {
	c := *m
	c.Tasks, c.Runs, c.Reviews = slices.Clone(m.Tasks), slices.Clone(m.Runs), slices.Clone(m.Reviews)
	c.News, c.Team = slices.Clone(m.News), slices.Clone(m.Team)
	return &c
}

// Try returns an error if the bodies are not valid next events of the mission.
func (m *Mission) Try(bodies ...Body) error {
	trial := m.Clone()
	for _, b := range bodies {
		if err := trial.apply(Event{Body: b}); err != nil {
			return fault.New(ErrInvalid, "%s: %w", KindOf(b), err)
		}
	}
	return nil
}

// apply processes the next event of the mission.
func (m *Mission) apply(e Event) error {
	if m.Sealed != nil {
		return errors.New("the mission is sealed")
	}
	var err error
	switch b := e.Body.(type) {
	case Planned:
		err = m.plan(b)
	case CriteriaSet:
		err = m.setCriteria(b)
	case Delegated:
		err = m.delegate(b)
	case TaskStarted:
		err = m.start(e, b)
	case TaskMerged:
		err = m.merge(e, b)
	case TaskReturned:
		err = m.giveBack(e, b)
	case CheckRan:
		err = m.ran(b)
	case ReviewStarted:
		m.Team = append(m.Team, b.Reviewer)
	case Reviewed:
		m.Reviews = append(m.Reviews, b)
	case GateResult:
		err = m.recordGate(b)
	case Sealed:
		err = m.seal(b)
	case Blocked:
		m.Blocked = &b
	default:
		err = errors.New("not a mission event")
	}
	m.Nudges = 0
	return err
}

// plan replaces the plan. Tasks that were started keep their state.
func (m *Mission) plan(b Planned) error {
	if err := b.Plan.Check(); err != nil {
		return err
	}
	m.Plans++
	var tasks, dropped []TaskState
	for _, t := range b.Plan.Tasks {
		state := TaskState{Task: t, Phase: PhasePlanned}
		if old := m.Task(t.ID); old != nil {
			state = *old
			state.Approved = old.Approved && digest(old.Task) == digest(t)
			state.Task, state.Returns = t, 0
			if state.Phase == PhaseReturned {
				state.Phase = PhasePlanned
			}
		}
		tasks = append(tasks, state)
	}
	for _, t := range m.Tasks {
		if _, kept := b.Plan.Task(t.Task.ID); kept && t.Phase != PhaseDropped {
			continue
		}
		if t.Phase == PhaseRunning || t.Phase == PhaseMerged {
			return fmt.Errorf("task %s is %s and cannot be dropped", t.Task.ID, t.Phase)
		}
		if t.Attempt > 0 || t.Phase == PhaseDropped {
			t.Phase = PhaseDropped
			dropped = append(dropped, t)
		}
	}
	m.Tasks = slices.Concat(tasks, dropped)
	return nil
}

func (m *Mission) setCriteria(b CriteriaSet) error {
	switch {
	case m.Criteria != nil:
		return errors.New("the criteria are already set")
	case b.Hash != b.Criteria.Hash():
		return errors.New("the hash does not match the criteria")
	}
	m.Criteria, m.Hash, m.Branch, m.Tip = &b.Criteria, b.Hash, b.Branch, b.Criteria.Base
	return nil
}

func (m *Mission) delegate(b Delegated) error {
	for _, id := range b.Tasks {
		t := m.Task(id)
		if t == nil || t.Phase != PhasePlanned {
			return fmt.Errorf("task %s is not ready to be delegated", id)
		}
		t.Phase = PhaseQueued
	}
	return nil
}

func (m *Mission) start(e Event, b TaskStarted) error {
	t := m.Task(b.Task)
	switch {
	case m.Criteria == nil:
		return errors.New("a task cannot start before the criteria are set")
	case t == nil || t.Phase != PhaseQueued:
		return fmt.Errorf("task %s is not queued", b.Task)
	case m.Paused > 0:
		return errors.New("the mission is paused")
	case !m.CanStart(*t):
		return fmt.Errorf("task %s is not approved", b.Task)
	case b.Attempt != t.Attempt+1:
		return fmt.Errorf("attempt %d at task %s follows attempt %d", b.Attempt, b.Task, t.Attempt)
	}
	t.Phase, t.Attempt, t.Worker, t.Base, t.From, t.Began = PhaseRunning, b.Attempt, b.Worker, b.Base, b.From, e.At
	t.Workers = append(slices.Clip(t.Workers), b.Worker) // a clone has the same array
	m.Attempts++
	m.Team = append(m.Team, b.Worker)
	return nil
}

// attempt returns a running task if n is its newest attempt.
func (m *Mission) attempt(id string, n int) (*TaskState, error) {
	t := m.Task(id)
	if t == nil || t.Phase != PhaseRunning || t.Attempt != n {
		return nil, fmt.Errorf("attempt %d at task %s is not running", n, id)
	}
	return t, nil
}

func (m *Mission) merge(e Event, b TaskMerged) error {
	t, err := m.attempt(b.Task, b.Attempt)
	if err != nil {
		return err
	}
	t.Phase, t.Commit, t.Outside, t.Ended, t.Why, t.Text = PhaseMerged, b.Commit, b.Outside, e.At, "", ""
	t.Took += e.At.Sub(t.Began)
	if b.Commit != m.Tip {
		m.Tip, m.Gate = b.Commit, nil
	}
	m.addNews(b.Task)
	return nil
}

func (m *Mission) giveBack(e Event, b TaskReturned) error {
	t, err := m.attempt(b.Task, b.Attempt)
	if err != nil {
		return err
	}
	t.Why, t.Text, t.Base, t.From, t.Ended = b.Why, b.Text, b.Base, b.From, e.At
	t.Took += e.At.Sub(t.Began)
	t.Phase = PhaseQueued
	switch b.Why {
	case ReturnStopped:
		return nil // nothing is wrong with it
	case ReturnCanceled:
		t.Phase = PhaseReturned
	case ReturnConflict, ReturnCheck, ReturnProtected, ReturnOutside, ReturnRefused, ReturnFailed, ReturnStuck:
		if t.Returns++; t.Returns > MissionReturns {
			t.Phase = PhaseReturned
		}
	}
	m.addNews(b.Task)
	return nil
}

func (m *Mission) addNews(task string) {
	if !slices.Contains(m.News, task) {
		m.News = append(m.News, task)
	}
}

func (m *Mission) ran(b CheckRan) error {
	if linked := b.Link(m.Chain); linked.Hash != b.Hash || b.Prev != m.Chain {
		return errors.New("the chain of evidence is broken")
	}
	m.Chain = b.Hash
	if b.Round > m.Round {
		m.Round, m.Runs, m.Reviews, m.Gate = b.Round, nil, nil, nil
	}
	if b.Round == m.Round && b.Round > 0 || b.On == "base" && m.Round == 0 {
		m.Runs = append(m.Runs, b)
	}
	return nil
}

func (m *Mission) recordGate(b GateResult) error {
	if m.Criteria == nil || b.Round < m.Round || b.Candidate != m.Tip {
		return errors.New("the gate result is not about the current candidate")
	}
	m.Round, m.Gate = b.Round, &b
	return nil
}

// seal verifies everything again: the gate passed without faults in this log, with
// a verdict that proves something, by checks that ran on this very tree, and no
// task is open.
func (m *Mission) seal(b Sealed) error {
	switch {
	case m.Gate == nil || len(m.Gate.Faults) > 0 || m.Gate.Round != b.Round || m.Gate.Tree != b.Tree || m.Gate.Candidate != b.Candidate:
		return errors.New("the gate has not passed for this candidate")
	case b.Candidate != m.Tip || b.Criteria != m.Hash || b.Chain != m.Chain || !m.proven(b):
		return errors.New("the evidence is not about this candidate")
	case len(m.Open()) > 0:
		return errors.New("some tasks are not merged")
	}
	m.Sealed = &b
	return nil
}

// proven reports whether each check of the criteria ran on the tree in the same
// round, and at least one passed, and the verdict is "proven". If no code changed, a
// check that passes now must have failed on the base. What other failures mean is
// up to the gate.
func (m *Mission) proven(b Sealed) bool {
	ran := func(holds func(CheckRan) bool) bool {
		return slices.ContainsFunc(m.Runs, func(r CheckRan) bool {
			return r.On == "candidate" && r.Tree == b.Tree && r.Round == b.Round && holds(r)
		})
	}
	for _, c := range m.Criteria.Checks {
		if !ran(func(r CheckRan) bool { return r.Check == c.ID }) && c.Kind != CheckSetup {
			return false
		}
	}
	if m.Gate.Verdict == verdictNoCode {
		return ran(func(r CheckRan) bool { return r.OK() && m.failedOnBase(r.Check, b.Round) })
	}
	return m.Gate.Verdict == verdictProven && ran(CheckRan.OK)
}

// failedOnBase reports whether a check failed on the base in a round of the gate.
func (m *Mission) failedOnBase(check string, round int) bool {
	return slices.ContainsFunc(m.Runs, func(r CheckRan) bool { return r.On == "base" && r.Check == check && r.Round == round && !r.OK() })
}

// Mission returns the mission that the session commands, or nil. It is valid until
// the next Apply and must not be changed.
func (h *History) Mission() *Mission { return h.mission }

// startMission makes the session that of a Commander.
func (h *History) startMission(e Event, b MissionStarted) error {
	if h.mission != nil || h.turns > 0 || len(h.waiting) > 0 || h.created.Parent != "" {
		return errors.New("a mission can only start in a new session")
	}
	h.mission = &Mission{Order: b.Order, Began: e.At, Tasks: []TaskState{}}
	return nil
}

// ofMission processes an event of mission control. Workers and reviewers belong to
// the open turn.
func (h *History) ofMission(e Event) error {
	if h.mission == nil || h.open == nil {
		return errors.New("no mission is running")
	}
	if err := h.mission.apply(e); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case TaskStarted:
		h.open.Workers = append(h.open.Workers, b.Worker)
	case ReviewStarted:
		h.open.Workers = append(h.open.Workers, b.Reviewer)
	default:
	}
	return nil
}

// NewMission describes a mission to start.
type NewMission struct {
	ID       SessionID    `json:"id,omitempty"`    // "" generates one
	Owner    User         `json:"owner,omitempty"` // whose it is
	Dir      string       `json:"dir"`
	Order    MissionOrder `json:"order"`
	Settings Settings     `json:"settings"` // of the Commander's first turn; its Agent is ignored
}

// Board is everything there is to see of a mission.
type Board struct {
	Session Session      `json:"session"`
	State   MissionState `json:"state"`
	Mission Mission      `json:"mission"`
	Team    []Session    `json:"team"`  // the workers and reviewers
	Usage   Usage        `json:"usage"` // of all of them together

	Ended *TurnFinished `json:"ended,omitempty"` // how the newest turn ended; nil while it is open
}
