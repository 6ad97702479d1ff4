package pawl

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Model writes replies.
type Model interface {
	// Stream sends the request and yields the reply as it comes. The last chunk
	// is a ChunkFinish; a stream that ends without one, or yields an error, has
	// failed and what it yielded is void; so is all that came before a
	// ChunkRetry. Errors of the provider's are a *ModelError. It stops when ctx
	// ends or the caller breaks off. The request is only read, and not after
	// Stream has ended.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Window is how much a model takes, in tokens. Zero means that it is not known.
type Window struct {
	Context int `json:"context"` // in all, the reply included
	Output  int `json:"output"`  // of a reply
}

// Request is what a model is asked, built from the log.
type Request struct {
	Session    SessionID
	Parent     SessionID // set in a subagent session: the session it belongs to
	ParentCall CallID    // and the call it was spawned by
	Agent      string
	Replies    int // how many replies the session's log holds
	System     string
	Messages   []Message
	Tools      []ToolSpec      // none: the model must not call any
	Prefill    string          // the beginning of the reply, where the model takes one
	Schema     json.RawMessage // the reply's text must be JSON of this schema; nil means any text
	Effort     string          // how much to think: "" (the model's default), low, medium, high
	MaxTokens  int             // bounds the reply; 0 means the model's own limit

	// How freely the model chooses its words; nil means its own default. They are
	// wishes: what the model would refuse is left out.
	Temperature, TopP *float64
}

// Chunk is a piece of a reply. Which fields count depends on its kind.
type Chunk struct {
	Kind      ChunkKind
	Text      string   // ChunkText, ChunkReasoning, ChunkNotice
	Signature string   // ChunkReasoning: seals the reasoning so far and ends that part
	Call      ToolCall // ChunkCall
	Usage     Usage    // ChunkUsage: the total so far, replaces an earlier one
	Finish    Finish   // ChunkFinish
	Retry     Retry    // ChunkRetry
}

// Retry says that a model call failed and is made again.
type Retry struct {
	Attempt int           `json:"attempt"` // the one that failed, from 1
	Wait    time.Duration `json:"wait"`    // until the next, in nanoseconds
	Model   string        `json:"model"`   // that will be asked next
	Kind    ErrorKind     `json:"kind"`
	Message string        `json:"message"`
}

// ChunkKind is the type of a chunk.
type ChunkKind int

// The kinds of chunk.
const (
	ChunkText ChunkKind = iota
	ChunkReasoning
	ChunkCall // a whole call; its ID may be empty or used before, the loop makes it unique
	ChunkUsage
	ChunkFinish
	ChunkRetry  // the call failed and is made again: forget what came before
	ChunkNotice // something for the person who waits, no part of the reply
)

// ModelError is a provider's failure, or a reply that makes no sense.
type ModelError struct {
	Kind       ErrorKind
	Status     int           // the HTTP status; 0 if it is not about one
	Message    string        // what the provider said, or what is wrong
	RetryAfter time.Duration // the provider asks to wait at least so long
}

func (e *ModelError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d)", e.Kind, e.Message, e.Status)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
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
