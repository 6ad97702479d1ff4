package pawl

// CallID names a tool call; unique within its session.
type CallID string

// Result is what a tool gives back: Content and Files for the model, Display and Meta for people.
type Result struct {
	Content string            `json:"content"`
	Files   []File            `json:"files,omitempty"` // images and documents
	Display Parts             `json:"display,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"` // e.g. exit_code
	IsError bool              `json:"is_error,omitempty"`
	Full    *Blob             `json:"full,omitempty"` // the whole content, when Content is only its head and tail
	Seen    map[string]string `json:"seen,omitempty"` // files whose content the model knows now: path to hash; "" if it is gone
}

// CallStatus says how a call came to its result.
type CallStatus string

// The statuses.
const (
	CallDone     CallStatus = "done"     // it ran; the result may be an error
	CallRefused  CallStatus = "refused"  // it was not run: no such tool, wrong input, the last step
	CallDenied   CallStatus = "denied"   // it was not run: it is not permitted, or a person declined
	CallCanceled CallStatus = "canceled" // it was stopped, or never begun, because the turn was canceled
	CallUnknown  CallStatus = "unknown"  // pawl died while it ran; nobody knows how far it got
)
