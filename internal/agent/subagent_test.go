package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestBackgroundSubagentsAreLimited checks that at most maxBackground subagents run in the background at once.
func TestBackgroundSubagentsAreLimited(t *testing.T) {
	t.Parallel()
	calls := make([]string, maxBackground+1)
	for i := range calls {
		calls[i] = `{"name":"task","input":{"agent":"general","prompt":"x","description":"x","background":true}}`
	}
	w := newEnv(t, setup{script: []string{`{"calls":[` + strings.Join(calls, ",") + `]}`}})
	w.Service = &crowd{}
	w.prompt("go")
	if _, err := w.turn(t.Context()); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Fatalf("got %v, want the end of the test's service", err)
	}
	began, refused := len(w.bodies(pawl.Spawned{})), 0
	for _, f := range w.results() {
		if f.Result.IsError && strings.Contains(f.Result.Content, fmt.Sprintf("%d tasks run already", maxBackground)) {
			refused++
		}
	}
	check(t, []int{maxBackground, 1}, []int{began, refused})
}

// crowd is a service whose sessions work for ever, until somebody asks how they are.
type crowd struct{ pawl.Service }

func (c *crowd) Get(context.Context, pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{}, fmt.Errorf("gone: %w", pawl.ErrNotFound)
}

func (c *crowd) Create(_ context.Context, n pawl.NewSession) (pawl.Session, error) {
	return pawl.Session{ID: n.ID}, nil
}

func (c *crowd) Send(context.Context, pawl.SessionID, pawl.Prompt) (pawl.Seq, error) { return 2, nil }
