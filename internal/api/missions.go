package api

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// Missions is what people do with a mission besides following it. Each method uses the
// service that it is given, which decides what its caller may do.
type Missions interface {
	// Report returns the report of a mission in one of ReportFormats. ErrNotFound for
	// intoto if the gate has not run yet.
	Report(ctx context.Context, svc pawl.Service, id pawl.SessionID, format string) ([]byte, error)

	// Gate returns the results of the gate.
	Gate(ctx context.Context, svc pawl.Service, id pawl.SessionID) (MissionGate, error)

	// Plan returns the plan, with the edits that the mission has not read yet.
	Plan(ctx context.Context, svc pawl.Service, id pawl.SessionID) (MissionPlan, error)

	// SetPlan edits the plan. ErrConflict if p.Hash is not that of the plan. The caller
	// has checked that the mission may be changed: the service cannot.
	SetPlan(ctx context.Context, svc pawl.Service, id pawl.SessionID, p PlanEdit) (MissionPlan, error)

	// Approve approves the plan and starts the work. ErrConflict if a.Hash is not that of
	// the plan.
	Approve(ctx context.Context, svc pawl.Service, id pawl.SessionID, a PlanApproval) (pawl.Seq, error)

	// Pause starts no more workers, Stop interrupts them, and Resume continues a mission
	// that is paused, stopped, blocked or interrupted.
	Pause(ctx context.Context, svc pawl.Service, id pawl.SessionID) error
	Stop(ctx context.Context, svc pawl.Service, id pawl.SessionID) error
	Resume(ctx context.Context, svc pawl.Service, id pawl.SessionID, r MissionResume) error
}

// ReportFormats are the formats of a report, with their media types.
var ReportFormats = map[string]Form{
	"json": FormJSON, "html": FormHTML, "markdown": FormMarkdown, "intoto": FormStatement,
}

// MissionPlan is the response of getMissionPlan.
type MissionPlan struct {
	Mission  pawl.SessionID    `json:"mission"`
	Goal     string            `json:"goal"`
	State    pawl.MissionState `json:"state"`
	Hash     string            `json:"hash"`     // changes with the tasks
	Approved bool              `json:"approved"` // no task of it waits for approval
	Edited   bool              `json:"edited"`   // the file has changes that the mission has not taken over yet
	File     string            `json:"file"`
	Tasks    []pawl.Task       `json:"tasks"`
	Criteria []pawl.Criterion  `json:"criteria"`
	Checks   []PlannedCheck    `json:"checks"`

	ApprovedBy *pawl.Actor `json:"approved_by,omitempty"` // who approved it; omitted if nobody has
}

// PlannedCheck is a check, and its result before the work.
type PlannedCheck struct {
	ID      string   `json:"id"`
	Command []string `json:"command"`
	Passes  *bool    `json:"passes,omitempty"` // on the base commit; omitted if it did not run there
}

// PlanEdit is the body of setMissionPlan.
type PlanEdit struct {
	Hash  string      `json:"hash"`  // of the plan that was edited
	Tasks []pawl.Task `json:"tasks"` // all tasks of the new plan, also those that are done
}

// PlanApproval is the body of approveMission.
type PlanApproval struct {
	Hash     string        `json:"hash"`              // of the plan that is approved
	Settings pawl.Settings `json:"settings,omitzero"` // of the work; the mode and the model are those of the mission if omitted
}

// MissionResume is the body of resumeMission.
type MissionResume struct {
	Text     string        `json:"text,omitempty"`    // for the Commander
	Settings pawl.Settings `json:"settings,omitzero"` // of the work; the mode and the model are those of the mission if omitted
}

// MissionGate is the response of getMissionGate.
type MissionGate struct {
	Base   []pawl.CheckRan `json:"base"`   // checks before the work and after merges
	Rounds []GateRound     `json:"rounds"` // oldest first
	Chain  EvidenceChain   `json:"chain"`
}

// GateRound is one round of the gate.
type GateRound struct {
	Round   int              `json:"round"`
	Checks  []pawl.CheckRan  `json:"checks"`
	Reviews []pawl.Reviewed  `json:"reviews"`
	Result  *pawl.GateResult `json:"result,omitempty"` // omitted until the round has ended
}

// EvidenceChain is the state of the hash chain over all check runs.
type EvidenceChain struct {
	Links int    `json:"links"`
	Head  string `json:"head,omitempty"`
	Fault string `json:"fault,omitempty"` // where the chain is broken; omitted if it is intact
}
