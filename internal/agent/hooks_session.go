package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// welcome runs the hooks of session.start the first time that this process works
// on the session. What they have to say to the model is an afterthought.
func (s *Stepper) welcome(ctx context.Context, j *journal, settings pawl.Settings) error {
	at := j.place(settings, j.history.Turns())
	if s.Hooks == nil || at.parent != "" {
		return nil
	}
	s.mu.Lock()
	_, known := s.welcomed[j.id]
	s.welcomed[j.id] = at
	s.mu.Unlock()
	if known {
		return nil
	}
	_, faults, err := s.Hooks.Hooks(ctx, at.dir, settings)
	if err == nil {
		for _, f := range faults {
			s.notice(j, at.turn, f.String())
		}
	}
	source := "startup"
	if at.turn > 0 {
		source = "resume"
	}
	o, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.SessionStart, Source: source, Turn: at.turn})
	if err != nil {
		s.mu.Lock()
		delete(s.welcomed, j.id) // nothing was told
		s.mu.Unlock()
		return hookFault(ctx, err)
	}
	s.think(j, o.Context)
	return nil
}

// greet is welcome for a turn that another process began, before anything goes on.
// A person can end the wait. If the hooks cannot be run, Prepare says so.
func (s *Stepper) greet(ctx context.Context, j *journal, open *pawl.OpenTurn) {
	ctx, done := s.interruptible(ctx, j, open.Prompt)
	defer done()
	_ = s.welcome(ctx, j, open.Settings)
}

// End runs the hooks of session.end: whoever has shown the session to a person, or
// worked on it for a script, leaves it. They are run once, and only where this
// process has run those of session.start. A session that goes on all the same
// starts anew. End returns what the hooks have to say to the person: by now nobody
// may listen to the session.
func (s *Stepper) End(ctx context.Context, id pawl.SessionID, why pawl.Reason) []string {
	s.mu.Lock()
	at, known := s.welcomed[id]
	delete(s.welcomed, id)
	j := s.journals[id]
	s.mu.Unlock()
	if !known {
		return nil
	}
	if j != nil { // a turn that has just ended still has hooks to run
		select {
		case j.step <- struct{}{}:
			defer j.leave()
		case <-ctx.Done():
			return nil
		}
	}
	var said []string
	_, err := s.fire(ctx, at, hook.Event{Point: hook.SessionEnd, Reason: why}, func(n hook.Notice) { said = append(said, s.Redact.Redact(n.Text)) })
	if err != nil && ctx.Err() == nil {
		said = append(said, err.Error())
	}
	return said
}

// errGivenUp is the cause of the end of a wait for hooks that a person has ended.
var errGivenUp = errors.New("canceled while hooks looked at it")

// patience is how long a prompt waits for hooks before the person is told.
const patience = time.Second

// heeded is what a person can end before a turn begins: a prompt that waits for
// hooks, or a command of their own.
type heeded struct {
	order  pawl.Seq
	giveUp func()
}

// interruptible returns the context of a wait for hooks that Interrupt can end.
// done must be called when they are done.
func (s *Stepper) interruptible(ctx context.Context, j *journal, prompt pawl.Seq) (_ context.Context, done func()) {
	if s.Hooks == nil {
		return ctx, func() {}
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	turn := j.history.Turns()
	told := time.AfterFunc(patience, func() {
		s.notice(j, turn, "hooks are still at work before the turn begins: a cancel ends the wait, and takes the prompt back")
	})
	s.mu.Lock()
	s.heeded[j.id] = heeded{prompt, func() { giveUp(errGivenUp) }}
	s.mu.Unlock()
	return ctx, func() {
		told.Stop()
		s.mu.Lock()
		delete(s.heeded, j.id)
		s.mu.Unlock()
		giveUp(nil)
	}
}

// Interrupt ends the wait of a prompt for hooks, which is taken back, and a command
// of the person's, if they are ones up to the given Seq. Commands up to there that
// still wait are not run, until the session is forgotten.
func (s *Stepper) Interrupt(id pawl.SessionID, upTo pawl.Seq) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canceled[id] = max(s.canceled[id], upTo)
	if h, ok := s.heeded[id]; ok && h.order <= upTo {
		h.giveUp()
	}
}

// attention is what hooks are told when a person is asked: the kind of the
// notification, and its words.
var attention = map[pawl.AskKind]struct{ kind, words string }{
	pawl.AskPermission: {"permission_prompt", "pawl asks whether %s may run"},
	pawl.AskQuestion:   {"elicitation_dialog", "pawl has a question (%s)"},
	pawl.AskPlan:       {"elicitation_dialog", "pawl has a plan and asks whether to begin (%s)"},
	pawl.AskLoop:       {"elicitation_dialog", "pawl asks whether to go on: the %s repeats itself"},
}

// notifyAsk tells hooks that a person is asked, right after the log says so: an
// ask that is waited for again is told no more.
func (h host) notifyAsk(ctx context.Context, call pawl.CallID, kind pawl.AskKind) {
	about, tool := attention[kind], "turn"
	if call != "" {
		tool = h.call(call).Call.Name
	}
	h.j.s.notify(ctx, h.j, h.settings(), about.kind, fmt.Sprintf(about.words, tool))
}

// notify runs the hooks of notification, if there is a person who can be told.
func (s *Stepper) notify(ctx context.Context, j *journal, settings pawl.Settings, kind, text string) {
	if settings.Absent {
		return
	}
	j.mu.Lock()
	turn := j.history.Turns()
	j.mu.Unlock()
	_, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.Notification, Turn: turn, Source: kind, Message: text})
	if err != nil && ctx.Err() == nil {
		s.notice(j, turn, err.Error())
	}
}

// farewell bounds the hooks that nobody can cancel any more: the turn has ended, or
// the process ends.
const farewell = 10 * time.Second

// notifyEnd tells hooks that a turn has ended and pawl waits for the person. One
// who has canceled it knows.
func (s *Stepper) notifyEnd(ctx context.Context, j *journal, settings pawl.Settings, stop pawl.Stop) {
	if stop.Reason == pawl.ReasonCanceled || j.history.Created().Parent != "" || len(j.history.Waiting()) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	s.notify(ctx, j, settings, "idle_prompt", ended(j.history.Mission(), stop))
}

// ended says why pawl waits for the person.
func ended(m *pawl.Mission, stop pawl.Stop) string {
	switch {
	case m != nil && m.Sealed != nil:
		return "pawl waits for you: the mission is sealed"
	case m != nil && m.Blocked != nil:
		return "pawl waits for you: the mission is blocked: " + m.Blocked.Reason
	default:
		return fmt.Sprintf("pawl waits for you: the turn has ended (%s)", stop.Reason)
	}
}

// event is a compaction as hooks see it.
func (c compaction) event(p hook.Point, j *journal) hook.Event {
	e := hook.Event{Point: p, Turn: j.history.Turns(), Trigger: "auto", Instructions: c.instructions}
	if c.asked != 0 {
		e.Trigger = "manual"
	}
	return e
}

// beforeCompaction runs the hooks before the conversation is made smaller. What
// they say joins what a person has ordered.
func (s *Stepper) beforeCompaction(ctx context.Context, j *journal, settings pawl.Settings, c compaction) string {
	o, err := s.runHooks(ctx, j, settings, c.event(hook.CompactionBefore, j))
	if err != nil {
		return c.instructions // nothing is refused by a hook here
	}
	texts := []string{c.instructions}
	for _, text := range o.Context {
		texts = append(texts, s.said(text))
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}

// afterCompaction runs the hooks after the conversation was made smaller, and those
// of session.start: what they told the model then may be gone. It comes after the
// log says so, and never again for the same summary. The model reads what they say
// before its next step.
func (s *Stepper) afterCompaction(ctx context.Context, j *journal, c compaction) {
	ctx, cancel := outlasting(ctx)
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
		s.think(j, o.Context)
	}
}

// outlasting returns a context that a person's cancel ends at once, and the end of
// the process after a while: what the log shows as done is to be told.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if takenAway(ctx) == nil {
			cancel()
			return
		}
		time.AfterFunc(farewell, cancel)
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// think keeps what hooks say to the model until it can be told.
func (s *Stepper) think(j *journal, texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(texts) > 0 {
		s.later[j.id] = append(s.later[j.id], texts...)
	}
}

// afterthoughts is what hooks have said to the model since it was last told.
func (s *Stepper) afterthoughts(j *journal) []pawl.Body {
	s.mu.Lock()
	texts := slices.Clone(s.later[j.id])
	delete(s.later, j.id)
	s.mu.Unlock()
	return s.injected(texts...)
}
