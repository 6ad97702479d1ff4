package provider

import (
	"context"
	"iter"
	"testing"

	"github.com/pawl-dev/pawl/internal/model"
)

// lastEffort is a model that records the effort of a request.
type lastEffort struct{ effort string }

func (m *lastEffort) Stream(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	m.effort = req.Effort
	return func(func(model.Chunk, error) bool) {}
}

// TestSupportedEffort checks that only an effort that the model supports is requested.
func TestSupportedEffort(t *testing.T) {
	t.Parallel()
	for effort, want := range map[string]string{"high": "high", "max": "", "": ""} {
		m := &lastEffort{}
		for range (supportedEffort{m, []string{"low", "high"}}).Stream(t.Context(), model.Request{Effort: effort}) {
			t.Error("a chunk")
		}
		if m.effort != want {
			t.Errorf("%q: requested %q, want %q", effort, m.effort, want)
		}
	}
}
