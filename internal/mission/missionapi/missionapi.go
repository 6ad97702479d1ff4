package missionapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// The agents of a mission. The prefix leaves the short names to user-defined agents.
const (
	AgentCommander = "mission-commander"
	AgentPlanner   = "mission-planner"
	AgentWorker    = "mission-worker"
	AgentReviewer  = "mission-reviewer"
)

// Journal is the Commander's session, as package mission uses it.
type Journal interface {
	Session() pawl.SessionID
	Dir() string             // the user's project
	Settings() pawl.Settings // of the open turn
	Mission() *pawl.Mission  // a copy
	Rules() string           // of the user and the project, for workers, whose directories are not trusted

	// Record appends events of the mission, see [IsEvent], all of them or none. It rejects events that do not
	// follow from the current state of the mission.
	Record(ctx context.Context, bodies ...pawl.Body) error

	// Spent returns an [agent.Stop] once a budget of the turn is used up, including the usage of its workers.
	Spent(ctx context.Context) error

	// Steered reports whether there is a steering prompt that the Commander has not seen yet.
	Steered(ctx context.Context) (bool, error)

	// Bound limits the settings of a worker to the remaining budgets.
	Bound(ctx context.Context, s *pawl.Settings) error

	// Keep saves the project where other hosts can reach it, if there are any. It is called before an event is
	// recorded that refers to new commits.
	Keep(ctx context.Context) error

	// Suspend returns the error that suspends the step if a wait that began then has lasted too long for one step.
	// The wait is resumed soon, and after most at the latest.
	Suspend(began time.Time, most time.Duration) error
}

// Tools returns the tools that only agents of a mission have.
func Tools() []string {
	return []string{"plan", "delegate", "task_status", "task_result", "task_message", "task_cancel", "seal", "block", "verdict"}
}

// Source is the source of the messages to the Commander.
const Source = "mission"

// IsEvent reports whether a body is an event of a mission.
func IsEvent(b pawl.Body) bool {
	switch b.(type) {
	case pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan, pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		return true
	default:
		return false
	}
}
