package missionapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// The agents of a mission's team. Their names leave the short ones to the agents
// that people define.
const (
	AgentCommander = "mission-commander"
	AgentPlanner   = "mission-planner"
	AgentWorker    = "mission-worker"
	AgentReviewer  = "mission-reviewer"
)

// Journal is the session of a mission's Commander as mission control uses it.
type Journal interface {
	Session() pawl.SessionID
	Dir() string             // the user's project
	Settings() pawl.Settings // of the open turn
	Mission() *pawl.Mission  // a copy
	Rules() string           // those of the user and the project, for workers, whose directories are not trusted

	// Record writes bodies of the mission, see [IsEvent], all of them or none: those
	// that do not follow from the mission as it is at that moment are refused.
	Record(ctx context.Context, bodies ...pawl.Body) error

	// Spent returns a [agent.Stop] once a budget of the turn, with all that its workers have
	// spent, is used up.
	Spent(ctx context.Context) error

	// Steered reports whether a person has said something that the Commander was not
	// told yet.
	Steered(ctx context.Context) (bool, error)

	// Bound narrows the settings of a worker to what is left of the budgets.
	Bound(ctx context.Context, s *pawl.Settings) error

	// Keep keeps the project as it is now where another host can get it, if there are
	// others. It is called before something is recorded that names new commits.
	Keep(ctx context.Context) error

	// Park returns the error with which to end a wait that began then, if it has lasted
	// too long for one step: it is asked again soon, and after that time at the latest.
	Park(began time.Time, most time.Duration) error
}

// Tools are the tools that only the team of a mission has.
func Tools() []string {
	return []string{"plan", "delegate", "task_status", "task_result", "task_message", "task_cancel", "seal", "block", "verdict"}
}

// Source is the source of what mission control tells the Commander.
const Source = "mission"

// IsEvent reports whether a body is one that mission control writes.
func IsEvent(b pawl.Body) bool {
	switch b.(type) {
	case pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan, pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		return true
	default:
		return false
	}
}
