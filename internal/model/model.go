package model

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Model writes replies.
type Model interface {
	// Stream sends the request and yields the reply as it comes. The last chunk
	// is a ChunkFinish; a stream that ends without one, or yields an error, has
	// failed and what it yielded is void; so is all that came before a
	// ChunkRetry. Errors of the provider's are a *ProviderError. It stops when ctx
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
	Session    pawl.SessionID
	Parent     pawl.SessionID // set in a subagent session: the session it belongs to
	ParentCall pawl.CallID    // and the call it was spawned by
	Agent      string
	Replies    int // how many replies the session's log holds
	System     string
	Messages   []pawl.Message
	Tools      []toolapi.Spec  // none: the model must not call any
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
	Text      string        // ChunkText, ChunkReasoning, ChunkNotice
	Signature string        // ChunkReasoning: seals the reasoning so far and ends that part
	Call      pawl.ToolCall // ChunkCall
	Usage     pawl.Usage    // ChunkUsage: the total so far, replaces an earlier one
	Finish    pawl.Finish   // ChunkFinish
	Retry     pawl.Retry    // ChunkRetry
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

// ProviderError is a provider's failure, or a reply that makes no sense.
type ProviderError struct {
	Kind       pawl.ErrorKind
	Status     int           // the HTTP status; 0 if it is not about one
	Message    string        // what the provider said, or what is wrong
	RetryAfter time.Duration // the provider asks to wait at least so long
}

func (e *ProviderError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d)", e.Kind, e.Message, e.Status)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// The agents that write beside the conversation.
const (
	AgentTitle      = "title"
	AgentSummary    = "summary"
	AgentCompaction = "compaction"
)
