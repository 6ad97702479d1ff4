// Package responses implements OpenAI's Responses API, which Azure offers too.
package responses

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Client is a model of the API. The headers of its endpoint contain the key: Authorization for OpenAI, api-key
// for Azure. The provider stores nothing: each request contains the whole conversation.
//
// The API cannot start a reply: the Prefill of a request is ignored.
type Client struct {
	protocol.Endpoint
	Model       string
	NoReasoning bool // the model does not reason, and rejects reasoning parameters
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, "/responses", c.build(req), func() protocol.Decoder { return &decoder{} })
}
