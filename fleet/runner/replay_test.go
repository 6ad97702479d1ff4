package runner

import (
	"log/slog"
	"path/filepath"
	"testing"

	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
)

// TestReplay checks that this version decides as recorded in histories of a real server. See the package
// comment for what to do if it fails.
func TestReplay(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/histories/*.json")
	ok(t, err)
	if len(paths) < 4 {
		t.Fatalf("only %d histories", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{})
			ok(t, err)
			register(r, timingFor(0))
			ok(t, r.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), path))
		})
	}
}
