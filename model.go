package pawl

import "time"

// Retry describes a failed model call that is repeated.
type Retry struct {
	Attempt int           `json:"attempt"` // the attempt that failed, from 1
	Wait    time.Duration `json:"wait"`    // until the next attempt, in nanoseconds
	Model   string        `json:"model"`   // that is called next
	Kind    ErrorKind     `json:"kind"`
	Message string        `json:"message"`
}

// ErrorKind classifies failures of model calls.
type ErrorKind string

// The kinds of failures.
const (
	ErrorAuth        ErrorKind = "not authorized"   // the API key is missing, wrong or lacks permission
	ErrorInvalid     ErrorKind = "invalid request"  // the same request will fail again
	ErrorOverflow    ErrorKind = "context overflow" // the request exceeds the context window
	ErrorRateLimited ErrorKind = "rate limited"     // too many requests or tokens
	ErrorOverloaded  ErrorKind = "overloaded"       // the provider has no capacity right now
	ErrorServer      ErrorKind = "provider error"   // the provider failed
	ErrorConnection  ErrorKind = "connection"       // the provider cannot be reached, or the stream broke off
	ErrorIdle        ErrorKind = "silent"           // no data for too long
	ErrorMalformed   ErrorKind = "malformed reply"  // the reply violates the protocol
	ErrorEmpty       ErrorKind = "empty reply"      // the reply has neither text nor calls
	ErrorRefused     ErrorKind = "refused"          // a safety stop of the provider or the model
)

// Temporary reports whether the same call may succeed if it is repeated.
func (k ErrorKind) Temporary() bool {
	switch k {
	case ErrorRateLimited, ErrorOverloaded, ErrorServer, ErrorConnection, ErrorIdle, ErrorMalformed, ErrorEmpty:
		return true
	default:
		return false
	}
}

// Channel distinguishes the text of a reply from its reasoning while both are
// streamed.
type Channel string

// The channels.
const (
	ChannelText      Channel = "text"
	ChannelReasoning Channel = "reasoning"
)
