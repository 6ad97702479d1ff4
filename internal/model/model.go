// Package model defines what a language model is to the agent: requests, streamed chunks and provider errors.
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

// Model is a language model.
type Model interface {
	// Stream sends the request and yields the reply as it arrives. The last chunk is a ChunkFinish. A stream
	// that ends without one, or yields an error, has failed, and its chunks are void; so are all chunks before
	// a ChunkRetry. Errors of the provider are a *ProviderError. It stops when ctx ends or the caller breaks.
	// The request is only read, and not after Stream has ended.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Window is the context window of a model, in tokens. Zero means unknown.
type Window struct {
	Context int `json:"context"` // total, including the reply
	Output  int `json:"output"`  // maximum length of a reply
}

// Request is a model request, built from the log.
type Request struct {
	Session    pawl.SessionID
	Parent     pawl.SessionID // in a subagent session: the session it belongs to
	ParentCall pawl.CallID    // in a subagent session: the call that spawned it
	Agent      string
	Replies    int // number of replies in the session's log
	System     string
	Messages   []pawl.Message
	Tools      []toolapi.Spec  // if empty, the model must not call tools
	Prefill    string          // start of the reply, if the model supports it
	Schema     json.RawMessage // JSON schema of the reply's text; nil means any text
	Effort     string          // reasoning effort, such as low, medium or high; "" means the model's default
	MaxTokens  int             // limit of the reply; 0 means the model's own limit

	// Sampling parameters; nil means the model's default. They are left out if the model does not support them.
	Temperature, TopP *float64
}

// Chunk is a part of a streamed reply. Kind determines which fields are set.
type Chunk struct {
	Kind      ChunkKind
	Text      string        // ChunkText, ChunkReasoning, ChunkNotice
	Signature string        // ChunkReasoning: signs the reasoning so far and ends that part
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
	ChunkCall // a complete call; its ID may be empty or a duplicate, the loop makes it unique
	ChunkUsage
	ChunkFinish
	ChunkRetry  // the call failed and is retried: discard the chunks before
	ChunkNotice // a message for the user, not part of the reply
)

// ProviderError is an error of a provider, or an invalid reply.
type ProviderError struct {
	Kind       pawl.ErrorKind
	Status     int           // HTTP status, or 0
	Message    string        // of the provider, or what is wrong
	RetryAfter time.Duration // minimum wait requested by the provider
}

func (e *ProviderError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d)", e.Kind, e.Message, e.Status)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// The agents that write titles and summaries.
const (
	AgentTitle      = "title"
	AgentSummary    = "summary"
	AgentCompaction = "compaction"
)
