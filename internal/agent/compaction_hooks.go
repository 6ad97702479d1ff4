package agent

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// event returns a compaction as hooks see it.
func (c compaction) event(p hook.Point, j *journal) hook.Event {
	e := hook.Event{Point: p, Turn: j.history.Turns(), Trigger: "auto", Instructions: c.instructions}
	if c.order != 0 {
		e.Trigger = "manual"
	}
	return e
}

// runCompactionBeforeHooks runs the compaction.before hooks and returns the instructions
// for the summary: the user's, followed by the texts of the hooks.
func (s *Stepper) runCompactionBeforeHooks(ctx context.Context, j *journal, settings pawl.Settings, c compaction) string {
	o, err := s.runHooks(ctx, j, settings, c.event(hook.CompactionBefore, j))
	if err != nil {
		return c.instructions // these hooks cannot block, so their failure blocks nothing
	}
	texts := []string{c.instructions}
	for _, text := range o.Context {
		texts = append(texts, s.sanitizeHookText(text))
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}

// runCompactionAfterHooks runs the compaction.after hooks, then those of session.start,
// whose texts may have been compacted away. It is called after the compaction was
// logged, and never again for the same one. The model reads the texts before its next step.
func (s *Stepper) runCompactionAfterHooks(ctx context.Context, j *journal, c compaction) {
	ctx, cancel := withHookGrace(ctx)
	defer cancel()
	settings := j.history.Settings()
	if open := j.history.Open(); open != nil {
		settings = open.Settings
	}
	events := []hook.Event{c.event(hook.CompactionAfter, j)}
	if j.history.Created().Parent == "" {
		events = append(events, hook.Event{Point: hook.SessionStart, Turn: j.history.Turns(), Source: "compact"})
	}
	for _, e := range events {
		o, err := s.runHooks(ctx, j, settings, e)
		if err != nil && ctx.Err() == nil {
			s.notice(j, e.Turn, err.Error())
		}
		s.sessions.addHookTexts(j.id, o.Context)
	}
}

// withHookGrace returns a context that a cancel by the user ends at once, but the end of
// the process only after endHooksTimeout: hooks should learn of what was logged as done.
func withHookGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if lostSession(ctx) == nil {
			cancel()
			return
		}
		time.AfterFunc(endHooksTimeout, cancel)
	})
	return longer, func() {
		stop()
		cancel()
	}
}
