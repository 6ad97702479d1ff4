package pawl

// CallID identifies a tool call within its session.
type CallID string

// Result is the result of a tool call: Content and Files are for the model, Display
// and Meta for users.
type Result struct {
	Content string            `json:"content"`
	Files   []File            `json:"files,omitempty"` // images and documents
	Display Parts             `json:"display,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"` // e.g. exit_code
	IsError bool              `json:"is_error,omitempty"`
	Full    *Blob             `json:"full,omitempty"`    // the full content, if Content is truncated
	Changed []string          `json:"changed,omitempty"` // files that a command changed, up to a limit
	Refused []string          `json:"refused,omitempty"` // changes of a command that were not applied, and why; for people
	Seen    map[string]string `json:"seen,omitempty"`    // hashes of files whose content the model knows now, by path; "" if the file was deleted
}

// CallStatus is how a tool call got its result.
type CallStatus string

// The statuses.
const (
	CallDone     CallStatus = "done"     // it ran; the result may be an error
	CallRefused  CallStatus = "refused"  // it did not run: unknown tool, wrong input, or the last step
	CallDenied   CallStatus = "denied"   // it did not run: permission was denied
	CallCanceled CallStatus = "canceled" // it was stopped or not started, because the turn was canceled or Pawl ended, and has no effect
	CallUnknown  CallStatus = "unknown"  // Pawl was interrupted while it ran, and its effects are unknown
)
