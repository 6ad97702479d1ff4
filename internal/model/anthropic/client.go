// Package anthropic speaks Anthropic's Messages protocol.
package anthropic

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// Version is the protocol's, for the anthropic-version header.
const Version = "2023-06-01"

// Client is a model behind the protocol. Its endpoint's headers carry the key
// (x-api-key) and the version.
type Client struct {
	protocol.Endpoint
	Model  string
	Output int    // the most tokens that the model writes; 0 means 8192
	Cloud  *Cloud // nil means Anthropic itself

	// Adaptive is for models that decide themselves how much to think: they take
	// an effort, and refuse a budget and a prefill.
	Adaptive bool
}

// Cloud is the protocol as another company's cloud speaks it: the model is
// named in the path, the version in the body.
type Cloud struct {
	Path    string
	Version string
	Stream  bool // the body says that the answer is to be streamed; else the path does
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
