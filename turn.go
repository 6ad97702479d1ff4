package pawl

import "time"

// Finish is why a model stopped.
type Finish string

// The finish reasons. Only FinishToolUse continues the turn.
const (
	FinishEndTurn   Finish = "end_turn"
	FinishToolUse   Finish = "tool_use"
	FinishMaxTokens Finish = "max_tokens"
	FinishCanceled  Finish = "canceled" // Pawl stopped reading; the partial reply is kept
)

// Reason is why a turn ended.
type Reason string

// The reasons.
const (
	ReasonEndTurn          Reason = "end_turn"
	ReasonMaxSteps         Reason = "max_steps"
	ReasonMaxTokens        Reason = "max_tokens"
	ReasonBudget           Reason = "budget"
	ReasonLoop             Reason = "loop" // it repeated itself
	ReasonCanceled         Reason = "canceled"
	ReasonPermissionDenied Reason = "permission_denied"
	ReasonError            Reason = "error"
)

// Reason returns the reason of a turn that ends with this finish.
func (f Finish) Reason() Reason {
	switch f {
	case FinishMaxTokens:
		return ReasonMaxTokens
	case FinishCanceled:
		return ReasonCanceled
	default:
		return ReasonEndTurn
	}
}

// Fault is the origin of a failure; see [ReasonError].
type Fault string

// The faults.
const (
	FaultModel    Fault = "model"    // the provider, or what it sent
	FaultInternal Fault = "internal" // Pawl itself
)

// Settings are the options of a prompt. They are stored with it, so that a resumed
// turn continues with the same ones.
type Settings struct {
	Agent    string `json:"agent,omitempty"`     // "" means the default agent
	Model    string `json:"model,omitempty"`     // e.g. script:/path/to/file
	Effort   string `json:"effort,omitempty"`    // reasoning effort, such as low, medium or high; "" means the model's default
	Mode     string `json:"mode,omitempty"`      // permission mode: plan, ask, guard, auto, yolo; "" keeps plan, ask and guard of the session, else the default
	MaxSteps int    `json:"max_steps,omitempty"` // 0 means the agent's own limit

	// Limits of the turn, including its subagents. The turn ends when one is
	// reached. 0 means no limit.
	MaxCost   Money         `json:"max_cost,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"` // read and written, including cached ones
	MaxTime   time.Duration `json:"max_time,omitempty"`   // since the turn started

	MaxSessionCost Money `json:"max_session_cost,omitempty"` // of the session so far, including all its subagents

	AddDirs []string `json:"add_dirs,omitempty"` // further project directories, their real paths

	Trusted bool `json:"trusted,omitempty"` // the project configuration is trusted
	Absent  bool `json:"absent,omitempty"`  // no user is present to answer asks

	AskTimeout time.Duration `json:"ask_timeout,omitempty"` // after this time permission prompts are denied; 0 means never

	Tools []string `json:"tools,omitempty"` // only these of the agent's tools; empty means all of them
}
