// Package gemini implements Google's Gemini API.
package gemini

import (
	"context"
	"iter"
	"net/url"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Client)(nil)

// DefaultPath is the path of the models in the Gemini API.
const DefaultPath = "/v1beta/models"

// Client is a model of the API. The headers of its endpoint contain the key (x-goog-api-key).
type Client struct {
	protocol.Endpoint
	Model  string
	Path   string // path of the models below the base URL; "" means DefaultPath
	Output int    // maximum tokens of a reply; 0 means the model's own limit

	// Levels is set for Gemini 3 and later: they take a thinking level instead of a token budget, require
	// signatures, and accept files in results.
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
