package pawl

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Mission is a mission as the log of its Commander's session tells it. Nothing
// else says how far it has come, and it refuses a log in which something is
// sealed that the gate has not found to be done.
type Mission struct {
	Order    MissionOrder `json:"order"`
	Began    time.Time    `json:"began"`
	Criteria *Criteria    `json:"criteria,omitempty"` // nil until it is
	Hash     string       `json:"hash,omitempty"`     // of that
	Branch   string       `json:"branch,omitempty"`
	Tip      string       `json:"tip,omitempty"` // the newest commit on the branch
	Plans    int          `json:"plans"`         // how often it was planned
	Tasks    []TaskState  `json:"tasks"`         // in the order of the plan; those that were dropped come last
	Attempts int          `json:"attempts"`      // at all tasks
	Round    int          `json:"round"`         // how often the gate was asked
	Runs     []CheckRan   `json:"runs,omitempty"`
	Reviews  []Reviewed   `json:"reviews,omitempty"` // of the newest round, as the runs are
	Gate     *GateResult  `json:"gate,omitempty"`    // nil once the branch has moved: then it proves nothing
	Sealed   *Sealed      `json:"sealed,omitempty"`
	Blocked  *Blocked     `json:"blocked,omitempty"`
	Chain    string       `json:"chain,omitempty"` // the hash of the newest CheckRan
	Nudges   int          `json:"nudges,omitempty"`
	News     []string     `json:"-"` // the tasks that the Commander was not told the newest of
	Team     []SessionID  `json:"-"` // all workers and reviewers there ever were
}

// TaskState is how far a task has come.
type TaskState struct {
	Task    Task         `json:"task"`
	Phase   TaskPhase    `json:"phase"`
	Attempt int          `json:"attempt,omitempty"`
	Returns int          `json:"returns,omitempty"` // since it was last planned
	Worker  SessionID    `json:"worker,omitempty"`  // the newest worker
	Base    string       `json:"base,omitempty"`    // of the newest attempt, or the one that comes next
	From    string       `json:"from,omitempty"`    // likewise
	Commit  string       `json:"commit,omitempty"`  // by which it was merged
	Why     ReturnReason `json:"why,omitempty"`     // the newest attempt came to nothing
	Text    string       `json:"text,omitempty"`    // of that
	Began   time.Time    `json:"began,omitzero"`    // the newest attempt
	Ended   time.Time    `json:"ended,omitzero"`
}

// TaskPhase is where a task is on its way.
type TaskPhase string

// The phases.
const (
	PhasePlanned  TaskPhase = "planned"  // nobody has asked for it yet
	PhaseQueued   TaskPhase = "queued"   // it begins as soon as it can
	PhaseRunning  TaskPhase = "running"  // a worker is at it, or what it left is being merged
	PhaseMerged   TaskPhase = "merged"   // it is on the branch
	PhaseDropped  TaskPhase = "dropped"  // it is in the plan no more
	PhaseReturned TaskPhase = "returned" // it came back too often, or was taken back: the Commander decides
)

// MissionState is where a mission is.
type MissionState string

// The states.
const (
	MissionWorking MissionState = "working"
	MissionSealed  MissionState = "sealed"
	MissionBlocked MissionState = "blocked"
	MissionStopped MissionState = "stopped" // nobody works on it: canceled, out of budget, or a failure
)

// Plan is the plan as it is now.
func (m *Mission) Plan() Plan {
	var p Plan
	for _, t := range m.Tasks {
		if t.Phase != PhaseDropped {
			p.Tasks = append(p.Tasks, t.Task)
		}
	}
	return p
}

// Task returns a task of the plan, or nil.
func (m *Mission) Task(id string) *TaskState {
	for i := range m.Tasks {
		if m.Tasks[i].Task.ID == id && m.Tasks[i].Phase != PhaseDropped {
			return &m.Tasks[i]
		}
	}
	return nil
}

// In returns the tasks in a phase, in order.
func (m *Mission) In(phase TaskPhase) []TaskState {
	var list []TaskState
	for _, t := range m.Tasks {
		if t.Phase == phase {
			list = append(list, t)
		}
	}
	return list
}

// Open returns what must be merged, or dropped from the plan, before a seal.
func (m *Mission) Open() []TaskState {
	return slices.DeleteFunc(slices.Clone(m.Tasks), func(t TaskState) bool { return t.Phase == PhaseMerged || t.Phase == PhaseDropped })
}

// Issues returns the sync issues: work that does not fit together, or that broke
// what was merged, and that nobody has settled.
func (m *Mission) Issues() []TaskState {
	return slices.DeleteFunc(m.Open(), func(t TaskState) bool { return t.Why != ReturnConflict && t.Why != ReturnCheck })
}

// Clone returns a copy that shares nothing that changes.
func (m *Mission) Clone() *Mission {
	c := *m
	c.Tasks, c.Runs, c.Reviews = slices.Clone(m.Tasks), slices.Clone(m.Runs), slices.Clone(m.Reviews)
	c.News, c.Team = slices.Clone(m.News), slices.Clone(m.Team)
	return &c
}

// Try returns why bodies do not follow from the mission as it is, or nil.
func (m *Mission) Try(bodies ...Body) error {
	trial := m.Clone()
	for _, b := range bodies {
		if err := trial.apply(Event{Body: b}); err != nil {
			return fmt.Errorf("%s: %w: %w", KindOf(b), err, ErrInvalid)
		}
	}
	return nil
}

// apply takes in a body of the mission.
func (m *Mission) apply(e Event) error {
	if m.Sealed != nil {
		return errors.New("the mission is sealed")
	}
	var err error
	switch b := e.Body.(type) {
	case Planned:
		err = m.plan(b)
	case CriteriaSet:
		err = m.freeze(b)
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
		err = m.judge(b)
	case Sealed:
		err = m.seal(b)
	case Blocked:
		m.Blocked = &b
	default:
		err = errors.New("this is not about a mission")
	}
	m.Nudges = 0
	return err
}

// plan takes over a plan. A task that is being worked on, or was, stays what it is.
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
			return fmt.Errorf("the task %s is %s and cannot be dropped", t.Task.ID, t.Phase)
		}
		if t.Attempt > 0 || t.Phase == PhaseDropped {
			t.Phase = PhaseDropped
			dropped = append(dropped, t)
		}
	}
	m.Tasks = slices.Concat(tasks, dropped)
	return nil
}

func (m *Mission) freeze(b CriteriaSet) error {
	switch {
	case m.Criteria != nil:
		return errors.New("what must hold is frozen already")
	case b.Hash != b.Criteria.Hash():
		return errors.New("what is frozen is not what its hash says")
	}
	m.Criteria, m.Hash, m.Branch, m.Tip = &b.Criteria, b.Hash, b.Branch, b.Criteria.Base
	return nil
}

func (m *Mission) delegate(b Delegated) error {
	for _, id := range b.Tasks {
		t := m.Task(id)
		if t == nil || t.Phase != PhasePlanned {
			return fmt.Errorf("the task %s does not wait to be given to somebody", id)
		}
		t.Phase = PhaseQueued
	}
	return nil
}

func (m *Mission) start(e Event, b TaskStarted) error {
	t := m.Task(b.Task)
	switch {
	case m.Criteria == nil:
		return errors.New("nobody works before it is frozen what must hold")
	case t == nil || t.Phase != PhaseQueued:
		return fmt.Errorf("the task %s does not wait for a worker", b.Task)
	case b.Attempt != t.Attempt+1:
		return fmt.Errorf("attempt %d at the task %s follows attempt %d", b.Attempt, b.Task, t.Attempt)
	}
	t.Phase, t.Attempt, t.Worker, t.Base, t.From, t.Began = PhaseRunning, b.Attempt, b.Worker, b.Base, b.From, e.At
	m.Attempts++
	m.Team = append(m.Team, b.Worker)
	return nil
}

// attempt returns the task whose newest attempt this is, if it is being worked on.
func (m *Mission) attempt(id string, n int) (*TaskState, error) {
	t := m.Task(id)
	if t == nil || t.Phase != PhaseRunning || t.Attempt != n {
		return nil, fmt.Errorf("nobody makes attempt %d at the task %s", n, id)
	}
	return t, nil
}

func (m *Mission) merge(e Event, b TaskMerged) error {
	t, err := m.attempt(b.Task, b.Attempt)
	if err != nil {
		return err
	}
	t.Phase, t.Commit, t.Ended, t.Why, t.Text = PhaseMerged, b.Commit, e.At, "", ""
	if b.Commit != m.Tip {
		m.Tip, m.Gate = b.Commit, nil
	}
	m.tell(b.Task)
	return nil
}

func (m *Mission) giveBack(e Event, b TaskReturned) error {
	t, err := m.attempt(b.Task, b.Attempt)
	if err != nil {
		return err
	}
	t.Why, t.Text, t.Base, t.From, t.Ended = b.Why, b.Text, b.Base, b.From, e.At
	t.Phase = PhaseQueued
	switch b.Why {
	case ReturnStopped:
		return nil // nothing is wrong with it
	case ReturnCanceled:
		t.Phase = PhaseReturned
	case ReturnConflict, ReturnCheck, ReturnProtected, ReturnRefused, ReturnFailed, ReturnStuck:
		if t.Returns++; t.Returns > MissionReturns {
			t.Phase = PhaseReturned
		}
	}
	m.tell(b.Task)
	return nil
}

func (m *Mission) tell(task string) {
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

func (m *Mission) judge(b GateResult) error {
	if m.Criteria == nil || b.Round < m.Round || b.Candidate != m.Tip {
		return errors.New("this is not what the gate was asked about")
	}
	m.Round, m.Gate = b.Round, &b
	return nil
}

// seal believes nobody: what is sealed was found to be without faults in the same
// log, by checks that passed on this very tree, and nothing is left to do.
func (m *Mission) seal(b Sealed) error {
	switch {
	case m.Gate == nil || len(m.Gate.Faults) > 0 || m.Gate.Round != b.Round || m.Gate.Tree != b.Tree || m.Gate.Candidate != b.Candidate:
		return errors.New("the gate has not found this to be done")
	case b.Candidate != m.Tip || b.Criteria != m.Hash || b.Chain != m.Chain || !m.proven(b):
		return errors.New("this is not what the evidence is about")
	case len(m.Open()) > 0:
		return errors.New("there are tasks that are not merged")
	}
	m.Sealed = &b
	return nil
}

// proven reports whether each check that is frozen was run on the tree in the same
// round, and one of them passed. What a failure means is for the gate to judge.
func (m *Mission) proven(b Sealed) bool {
	ran := func(holds func(CheckRan) bool) bool {
		return slices.ContainsFunc(m.Runs, func(r CheckRan) bool { return r.Tree == b.Tree && r.Round == b.Round && holds(r) })
	}
	for _, c := range m.Criteria.Checks {
		if !ran(func(r CheckRan) bool { return r.Check == c.ID }) {
			return false
		}
	}
	return ran(func(r CheckRan) bool { return r.OK() })
}

// Mission is the mission that the session commands, or nil. It is the history's
// own: read it before the next Apply, and do not change it.
func (h *History) Mission() *Mission { return h.mission }

// startMission makes the session that of a Commander.
func (h *History) startMission(e Event, b MissionStarted) error {
	if h.mission != nil || h.turns > 0 || len(h.waiting) > 0 || h.created.Parent != "" {
		return errors.New("a mission begins with its session")
	}
	h.mission = &Mission{Order: b.Order, Began: e.At, Tasks: []TaskState{}}
	return nil
}

// ofMission takes in what mission control wrote. Its subagents are those of the turn.
func (h *History) ofMission(e Event) error {
	if h.mission == nil || h.open == nil {
		return errors.New("no mission is worked on")
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

// NewMission says what mission to begin, and where.
type NewMission struct {
	ID       SessionID    `json:"id,omitempty"`    // "" means that one is made
	Owner    User         `json:"owner,omitempty"` // whose it is
	Dir      string       `json:"dir"`
	Order    MissionOrder `json:"order"`
	Settings Settings     `json:"settings"` // of the Commander's first turn; the agent is given
}

// Board is all that can be seen of a mission.
type Board struct {
	Session Session      `json:"session"`
	State   MissionState `json:"state"`
	Mission Mission      `json:"mission"`
	Team    []Session    `json:"team"`  // the workers and reviewers, as they are now
	Usage   Usage        `json:"usage"` // of all of them together

	Ended *TurnFinished `json:"ended,omitempty"` // how the newest turn ended; nil while it is open
}
