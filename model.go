package pawl

import (
	"context"
	"iter"
)

// Model writes replies.
type Model interface {
	// Stream sends the request and yields the reply as it comes. The last chunk
	// is a ChunkFinish; a stream that ends without one, or yields an error, has
	// failed and what it yielded is void. It stops when ctx ends or the caller
	// breaks off. The request is only read, and not after Stream has ended.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Request is what a model is asked, built from the log.
type Request struct {
	Session    SessionID
	ParentCall CallID // set in a child session: the call it was spawned by
	Agent      string
	Replies    int // how many replies the session's log holds
	System     string
	Messages   []Message
	Tools      []ToolSpec // none: the model must not call any
}

// Chunk is a piece of a reply. Which fields count depends on its kind.
type Chunk struct {
	Kind      ChunkKind
	Text      string   // ChunkText, ChunkReasoning
	Signature string   // ChunkReasoning: seals the reasoning so far and ends that part
	Call      ToolCall // ChunkCall
	Usage     Usage    // ChunkUsage: the total so far, replaces an earlier one
	Finish    Finish   // ChunkFinish
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
)

// Channel tells a reply's growing texts apart.
type Channel string

// The channels.
const (
	ChannelText      Channel = "text"
	ChannelReasoning Channel = "reasoning"
)
