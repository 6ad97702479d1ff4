package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// runSessionStartHooks runs the session.start hooks the first time that this process
// works on the session. The model reads their texts before its next step.
func (s *Stepper) runSessionStartHooks(ctx context.Context, j *journal, settings pawl.Settings) error {
	c := j.hookContext(settings, j.history.Turns())
	if s.Hooks == nil || c.parent != "" {
		return nil
	}
	var started bool
	s.sessions.update(j.id, func(st *sessionState) {
		started = st.startHooks != nil
		st.startHooks = &c
	})
	if started {
		return nil
	}
	_, faults, err := s.Hooks.Hooks(ctx, c.dir, settings)
	if err == nil {
		for _, f := range faults {
			s.notice(j, c.turn, f.String())
		}
	}
	source := "startup"
	if c.turn > 0 {
		source = "resume"
	}
	o, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.SessionStart, Source: source, Turn: c.turn})
	if err != nil {
		s.sessions.update(j.id, func(st *sessionState) { st.startHooks = nil }) // so that they run again
		return hookFault(ctx, err)
	}
	s.sessions.addHookTexts(j.id, o.Context)
	return nil
}

// runStartHooksOnResume runs the session.start hooks before this process goes on with a
// turn that another one began. The user can cancel them. If they fail, Prepare runs them
// again and reports the error.
func (s *Stepper) runStartHooksOnResume(ctx context.Context, j *journal, open *pawl.OpenTurn) {
	ctx, done := s.interruptibleHooks(ctx, j, open.Prompt)
	defer done()
	_ = s.runSessionStartHooks(ctx, j, open.Settings)
}

// End runs the session.end hooks: a front end calls it when it leaves the session. They
// run once, and only if this process ran the session.start hooks. If the session goes on
// all the same, it starts anew. End returns the hooks' messages for the user, because
// nobody may listen to the session's events any more.
func (s *Stepper) End(ctx context.Context, id pawl.SessionID, why pawl.Reason) []string {
	var started *hookContext
	var j *journal
	s.sessions.update(id, func(st *sessionState) {
		started, j = st.startHooks, st.journal
		st.startHooks = nil
	})
	if started == nil {
		return nil
	}
	if j != nil { // a turn that has just ended may still run hooks
		select {
		case j.step <- struct{}{}:
			defer j.leave()
		case <-ctx.Done():
			return nil
		}
	}
	var messages []string
	_, err := s.runHooksIn(ctx, *started, hook.Event{Point: hook.SessionEnd, Reason: why}, func(n hook.Notice) {
		messages = append(messages, s.Redact.Redact(n.Text))
	})
	if err != nil && ctx.Err() == nil {
		messages = append(messages, err.Error())
	}
	return messages
}
