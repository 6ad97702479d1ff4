package pawl

import "time"

// Finish says why a model stopped writing.
type Finish string

// The finishes. Only FinishToolUse lets the loop go on by itself.
const (
	FinishEndTurn   Finish = "end_turn"
	FinishToolUse   Finish = "tool_use"
	FinishMaxTokens Finish = "max_tokens"
	FinishCanceled  Finish = "canceled" // pawl stopped reading; what had come is kept
)

// Reason says why a turn ended.
type Reason string

// The reasons.
const (
	ReasonEndTurn          Reason = "end_turn"
	ReasonMaxSteps         Reason = "max_steps"
	ReasonMaxTokens        Reason = "max_tokens"
	ReasonBudget           Reason = "budget"
	ReasonLoop             Reason = "loop" // it went round in circles
	ReasonCanceled         Reason = "canceled"
	ReasonPermissionDenied Reason = "permission_denied"
	ReasonError            Reason = "error"
)

// Reason returns the turn's reason when the loop ends on this finish.
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

// Fault says whose failure a [ReasonError] was.
type Fault string

// The faults.
const (
	FaultModel    Fault = "model"    // the provider, or what it sent
	FaultInternal Fault = "internal" // pawl itself
)

// Settings say how a prompt is to be worked on. They are kept with the prompt,
// so that a resumed turn goes on as it began.
type Settings struct {
	Agent    string `json:"agent,omitempty"`     // "" means the default agent
	Model    string `json:"model,omitempty"`     // e.g. script:/path/to/file
	Mode     string `json:"mode,omitempty"`      // plan, ask, guard, auto, yolo
	MaxSteps int    `json:"max_steps,omitempty"` // 0 means the agent's own limit

	// Bounds of the turn, its subagents included: it ends when one is reached. 0
	// means no limit.
	MaxCost   Money         `json:"max_cost,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"` // read and written, cached ones too
	MaxTime   time.Duration `json:"max_time,omitempty"`   // since it began

	MaxSessionCost Money `json:"max_session_cost,omitempty"` // of the session so far, all its subagents included

	Trusted bool `json:"trusted,omitempty"` // the workspace's own config may take effect
	Absent  bool `json:"absent,omitempty"`  // nobody is there to be asked

	AskTimeout time.Duration `json:"ask_timeout,omitempty"` // then a permission counts as declined; 0 means never

	Tools []string `json:"tools,omitempty"` // only these, of those that the agent has; empty means all of them
}
