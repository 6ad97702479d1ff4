package gateway

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// ask is the body of a stream request.
type ask struct {
	Ref     string  `json:"ref"`
	Request request `json:"request"`
}

// request is a [model.Request] with JSON names. The types convert into each other, so a field missing in one of
// them does not compile.
type request struct {
	Session     pawl.SessionID  `json:"session,omitempty"`
	Parent      pawl.SessionID  `json:"parent,omitempty"`
	ParentCall  pawl.CallID     `json:"parent_call,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	Replies     int             `json:"replies,omitempty"`
	System      string          `json:"system,omitempty"`
	Messages    []pawl.Message  `json:"messages,omitzero"`
	Tools       []toolapi.Spec  `json:"tools,omitzero"`
	Prefill     string          `json:"prefill,omitempty"`
	Schema      json.RawMessage `json:"schema,omitzero"`
	Effort      string          `json:"effort,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
}

// line is a line of a stream: a chunk, the end, or an error. A stream whose last line is a chunk was cut off.
type line struct {
	Kind string `json:"kind"` // kind of the chunk, or lineEnd or lineError
	chunk
	Input []byte   `json:"input,omitzero"` // input of the chunk's call; need not be valid JSON
	Error *failure `json:"error,omitempty"`
}

const (
	lineEnd   = "end"
	lineError = "error"
)

// chunk is a [model.Chunk] with JSON names. The types convert into each other.
type chunk struct {
	Kind      model.ChunkKind `json:"-"` // Kind of the line, by name
	Text      string          `json:"text,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Call      pawl.ToolCall   `json:"call,omitzero"`
	Usage     pawl.Usage      `json:"usage,omitzero"`
	Finish    pawl.Finish     `json:"finish,omitempty"`
	Retry     pawl.Retry      `json:"retry,omitzero"`
}

// kinds are the names of chunk kinds. Unlike the numbers they are stable, so both sides may have different
// versions.
var kinds = []string{
	model.ChunkText:      "text",
	model.ChunkReasoning: "reasoning",
	model.ChunkCall:      "call",
	model.ChunkUsage:     "usage",
	model.ChunkFinish:    "finish",
	model.ChunkRetry:     "retry",
	model.ChunkNotice:    "notice",
}

// lineOf returns the line of a chunk.
func lineOf(c model.Chunk) line {
	l := line{Kind: kinds[c.Kind], chunk: chunk(c), Input: c.Call.Input}
	l.Call.Input = nil
	return l
}

// decodeChunk returns the chunk of a line; false if its kind is unknown.
func (l line) decodeChunk() (model.Chunk, bool) {
	kind := slices.Index(kinds, l.Kind)
	if kind < 0 {
		return model.Chunk{}, false
	}
	c := model.Chunk(l.chunk)
	c.Kind, c.Call.Input = model.ChunkKind(kind), l.Input
	return c, true
}

// failure is an encoded error of a model, or of opening it.
type failure struct {
	Message string      `json:"message"`
	Code    pawl.Code   `json:"code"`
	Model   *modelError `json:"model,omitempty"`
}

// modelError is a [model.ProviderError] with JSON names. The types convert into each other.
type modelError struct {
	Kind       pawl.ErrorKind `json:"kind"`
	Status     int            `json:"status,omitempty"`
	Message    string         `json:"message"`
	RetryAfter time.Duration  `json:"retry_after,omitempty"`
}

// err returns the decoded error, with the class and the message of the original.
func (f failure) err() error {
	if f.Model == nil {
		return api.Fault{Error: api.FaultBody{Code: f.Code, Message: f.Message}}.Err("")
	}
	provider := model.ProviderError(*f.Model)
	if provider.Error() == f.Message {
		return &provider
	}
	return &relayed{f.Message, &provider}
}

// relayed is a provider error with the message of the errors that wrapped it.
type relayed struct {
	text     string
	provider *model.ProviderError
}

func (e *relayed) Error() string { return e.text }
func (e *relayed) Unwrap() error { return e.provider }
