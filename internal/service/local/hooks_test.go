package local

import (
	"context"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// hooks are those of a test.
type hooks []hook.Hook

func (h hooks) Hooks(context.Context, string, pawl.Settings) (*hook.Registry, []hook.Fault, error) {
	r, err := hook.New(h...)
	return r, nil, err
}

// A prompt that hooks look at can be canceled: it is withdrawn at once, and what
// was sent after the cancel is worked on.
func TestCancelEndsTheWaitForHooks(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"Done."}`)
	w.create(session)
	first := w.prompt(session, "first")
	looks := make(chan struct{})
	r := w.runner(here, ttl)
	r.Stepper.Hooks = hooks{{Name: "hangs", Points: []hook.Point{hook.ChatMessage}, Run: func(ctx context.Context, e hook.Event) (hook.Outcome, error) {
		if e.Parts.Text() == "first" {
			close(looks)
			<-ctx.Done()
		}
		return hook.Outcome{}, nil
	}}}
	mustStart(t, r, session)
	receive(t, looks, "the hook's look at the prompt")
	if err := r.Cancel(t.Context(), session, first); err != nil {
		t.Fatal(err)
	}
	second := w.prompt(session, "second")
	mustStart(t, r, session)
	w.idle(session)
	check(t, []pawl.Withdrawn{{Prompt: first}}, of[pawl.Withdrawn](w))
	check(t, map[pawl.Seq]pawl.Reason{second: pawl.ReasonEndTurn}, w.reasons(session))
}
