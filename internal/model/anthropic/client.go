// Package anthropic implements Anthropic's Messages API.
package anthropic

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Version is the value of the anthropic-version header.
const Version = "2023-06-01"

// Client is a model of the API. The headers of its endpoint contain the key (x-api-key) and the version.
type Client struct {
	protocol.Endpoint
	Model  string
	Output int    // maximum tokens of a reply; 0 means 8192
	Cloud  *Cloud // nil means Anthropic's own API

	// Adaptive is set for models with adaptive thinking: they support an effort, but no budget and no prefill.
	Adaptive bool
}

// Cloud is the variant of the API on another company's cloud: the model is in the path, the version in the
// body.
type Cloud struct {
	Path    string
	Version string
	Stream  bool // the body requests streaming; otherwise the path does
}

func (c *Client) path() string {
	if c.Cloud != nil {
		return c.Cloud.Path
	}
	return "/v1/messages"
}

func (c *Client) maxTokens() int {
	if c.Output == 0 {
		return 8192
	}
	return c.Output
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, c.path(), c.build(req), func() protocol.Decoder { return &decoder{answer: req.Schema != nil} })
}
