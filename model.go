package pawl

import "time"

// Retry says that a model call failed and is made again.
type Retry struct {
	Attempt int           `json:"attempt"` // the one that failed, from 1
	Wait    time.Duration `json:"wait"`    // until the next, in nanoseconds
	Model   string        `json:"model"`   // that will be asked next
	Kind    ErrorKind     `json:"kind"`
	Message string        `json:"message"`
}

// ErrorKind says what a failed model call means for the next one.
type ErrorKind string

// The kinds of failure.
const (
	ErrorAuth        ErrorKind = "not authorized"   // the key is missing, wrong or not allowed to do this
	ErrorInvalid     ErrorKind = "invalid request"  // it will be refused again
	ErrorOverflow    ErrorKind = "context overflow" // the request is too large for the model
	ErrorRateLimited ErrorKind = "rate limited"     // too many requests or tokens for now
	ErrorOverloaded  ErrorKind = "overloaded"       // the provider has no room for now
	ErrorServer      ErrorKind = "provider error"   // it failed on its side
	ErrorConnection  ErrorKind = "connection"       // it cannot be reached, or the stream broke off
	ErrorIdle        ErrorKind = "silent"           // no bytes for too long
	ErrorMalformed   ErrorKind = "malformed reply"  // not what the protocol says
	ErrorEmpty       ErrorKind = "empty reply"      // neither text nor calls
	ErrorRefused     ErrorKind = "refused"          // the provider's or the model's own safety stop
)

// Temporary reports whether the same call may succeed when it is made again.
func (k ErrorKind) Temporary() bool {
	switch k {
	case ErrorRateLimited, ErrorOverloaded, ErrorServer, ErrorConnection, ErrorIdle, ErrorMalformed, ErrorEmpty:
		return true
	default:
		return false
	}
}

// Channel tells a reply's growing texts apart.
type Channel string

// The channels.
const (
	ChannelText      Channel = "text"
	ChannelReasoning Channel = "reasoning"
)
