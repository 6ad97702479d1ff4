package provider

import (
	"context"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl/internal/model"
)

// supportedEffort leaves out a reasoning effort that the model does not support: a fallback, or the
// model of a subagent, can have others than the session's.
type supportedEffort struct {
	model.Model
	efforts []string
}

// Stream implements [model.Model].
func (e supportedEffort) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if !slices.Contains(e.efforts, req.Effort) {
		req.Effort = ""
	}
	return e.Model.Stream(ctx, req)
}
