// Package openaichat speaks OpenAI's Chat Completions protocol and its dialects.
package openaichat

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Client is a model behind the protocol. Its endpoint's headers carry the key
// (Authorization, or Azure's api-key).
type Client struct {
	protocol.Endpoint
	Model   string
	Dialect Dialect
	Reasons bool // the model thinks before it replies: many of those refuse a temperature, so none is sent
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, "/chat/completions", c.build(req), func() protocol.Decoder { return &decoder{seal: c.Dialect.Reasoning == ReasoningDetails} })
}
