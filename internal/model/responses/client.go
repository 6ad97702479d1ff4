// Package responses speaks OpenAI's Responses protocol, which Azure speaks too.
package responses

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Client is a model behind the protocol. Its endpoint's headers carry the key:
// Authorization for OpenAI, api-key for Azure. Nothing is left with the
// provider: each request holds the whole conversation.
//
// The protocol has no way to begin a reply: a request's Prefill is ignored.
type Client struct {
	protocol.Endpoint
	Model string
	Plain bool // the model does not reason, and refuses requests that speak of reasoning
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, "/responses", c.build(req), func() protocol.Decoder { return &decoder{} })
}
