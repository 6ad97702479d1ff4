// Package openaichat speaks OpenAI's Chat Completions protocol and its dialects.
package openaichat

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
	Reasons bool // the model thinks before it replies: many of those refuse a temperature, so none is sent
}

// Stream implements [pawl.Model].
func (c *Client) Stream(ctx context.Context, req pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return c.Ask(ctx, "/chat/completions", c.build(req), func() protocol.Decoder { return &decoder{seal: c.Dialect.Reasoning == ReasoningDetails} })
}
