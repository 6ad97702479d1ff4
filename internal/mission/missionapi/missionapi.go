// Package missionapi defines what the agent loop and the tools know of a mission: its
// journal, its agents and its tools.
package missionapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// The agents of a mission's team. The prefix leaves short names to the agents that
// users define.
const (
	AgentCommander = "mission-commander"
	AgentPlanner   = "mission-planner"
	AgentWorker    = "mission-worker"
	AgentReviewer  = "mission-reviewer"
)

// Journal is the session of a mission's Commander, as mission control uses it.
type Journal interface {
	Session() pawl.SessionID
	Dir() string             // the user's project
	Settings() pawl.Settings // of the open turn
	Mission() *pawl.Mission  // a copy
	Rules() string           // of the user and the project, for workers, whose worktrees are not trusted

	// Record writes events of the mission (see [IsEvent]), all of them or none. It
	// rejects those that are not valid next events of the mission.
	Record(ctx context.Context, bodies ...pawl.Body) error

	// Notice shows a message to the user.
	Notice(text string)

	// Spent returns an agent.Stop once a budget of the turn, including its workers,
	// is used up.
	Spent(ctx context.Context) error

	// Steered reports whether the user sent a message that the Commander has not
	// seen yet.
	Steered(ctx context.Context) (bool, error)

	// Keep saves the project so that another host can get it, if there are others.
	// Call it before recording new commits.
	Keep(ctx context.Context) error

	// Suspend returns the error that suspends the step if a wait that began then has lasted too long for one step.
	// The wait is resumed soon, and after most at the latest.
	Suspend(began time.Time, most time.Duration) error
}

// Tools returns the names of the tools that only the team of a mission has.
func Tools() []string {
	return []string{"plan", "delegate", "task_status", "task_result", "task_message", "task_cancel", "seal", "block", "verdict"}
}

// Source is the [pawl.Injected.Source] of messages of mission control to the
// Commander.
const Source = "mission"

// IsEvent reports whether mission control writes bodies of this type.
func IsEvent(b pawl.Body) bool {
	switch b.(type) {
	case pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan, pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		return true
	default:
		return false
	}
}
