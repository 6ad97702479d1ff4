// Package gemini speaks Google's Gemini protocol.
package gemini

import (
	"context"
	"iter"
	"net/url"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// DefaultPath is where the models are in the Gemini API.
const DefaultPath = "/v1beta/models"

// Client is a model behind the protocol. Its endpoint's headers carry the key
// (x-goog-api-key).
type Client struct {
	protocol.Endpoint
	Model  string
	Path   string // where the models are, below the base URL; "" means DefaultPath
	Output int    // the most tokens that the model writes; 0 means its own limit

	// Levels is for models that take a level of thinking, where the ones before
	// took a number of tokens, that insist on signatures, and that take files in a
	// result: Gemini 3 and later.
	Levels bool
}

func (c *Client) path() string {
	path := c.Path
	if path == "" {
		path = DefaultPath
	}
	return path + "/" + url.PathEscape(c.Model) + ":streamGenerateContent?alt=sse"
}

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return c.Ask(ctx, c.path(), c.build(req), func() protocol.Decoder { return &decoder{} })
}
