// Package openaichat implements OpenAI's Chat Completions API and its dialects.
package openaichat

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Client is a model of the API. The headers of its endpoint contain the key (Authorization, or Azure's
// api-key).
type Client struct {
	protocol.Endpoint
	Model   string
	Dialect Dialect
	Reasons bool // reasoning model: no temperature is sent, because many of them reject it
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, "/chat/completions", c.build(req), func() protocol.Decoder { return &decoder{seal: c.Dialect.Reasoning == ReasoningDetails} })
}
