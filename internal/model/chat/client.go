// Package chat speaks OpenAI's Chat Completions protocol and its dialects.
package chat

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ pawl.Model = (*Client)(nil)

// Client is a model behind the protocol. Its endpoint's headers carry the key
// (Authorization, or Azure's api-key).
type Client struct {
	protocol.Endpoint
	Model   string
	Dialect Dialect
}

// Stream implements [pawl.Model].
func (c *Client) Stream(ctx context.Context, req pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		body, err := protocol.Marshal(c.build(req))
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		d := &decoder{seal: c.Dialect.Reasoning == ReasoningDetails}
		protocol.Decode(c.Post(ctx, "/chat/completions", body), d, yield)
	}
}
