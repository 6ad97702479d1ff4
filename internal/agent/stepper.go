// Package agent holds the loop, the steps it is made of, and the agents.
package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/tool"
)

// Bus is where a Stepper's events are heard.
type Bus interface {
	// Append stores the events and makes them heard; see pawl.Store.
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	// Publish makes an unsaved event heard by those who listen now.
	Publish(e pawl.Event)
	// Events yields the events after the given Seq, then those that come; see pawl.Service.
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Config is what a Stepper needs.
type Config struct {
	Store pawl.Store
	Bus   Bus
	Model func(ref string) (pawl.Model, error) // opens a model by its name
	Tools *tool.Registry
	Clock func() time.Time // nil means time.Now

	// Window says how much a model takes; nil means that nobody knows.
	Window func(ref string) (pawl.Window, error)
	// Small names the model that writes titles and summaries for sessions with a
	// given one; nil or "" means that there are none.
	Small func(ref string) (string, error)
	// Sibling names the small model of the same provider as a given one, for agents
	// that are to have one; nil or "" means that there is none.
	Sibling func(ref string) (string, error)
	// Snapshots keep what the workspaces held, so that what calls do can be shown
	// and undone; nil means that none are taken.
	Snapshots Snapshots

	Authority Authority        // what calls may do; nil means that none may run
	Hooks     Hooks            // what joins in at points of a turn; nil means that there are none
	Redact    *redact.Redactor // masks secrets in what tools return; nil masks by their shape

	// Extensions reads what a directory and the user bring: agents, rules, skills. nil
	// means that there are none.
	Extensions func(ctx context.Context, dir string, s pawl.Settings) (*extension.Found, error)

	Servers Servers // the MCP servers, whose tools join the others; nil means that there are none

	// Buffers returns what a session has open in an editor, nil if it has nothing; nil
	// means that there are no editors.
	Buffers func(pawl.SessionID) pawl.Buffers

	Missions Missions // mission control; nil means that there are no missions

	// Park ends a step that would wait for a person with a *Parked instead, for runners
	// that wait elsewhere, and one that has waited for other sessions for as long as
	// Patience says; 0 means 2 minutes.
	Park     bool
	Patience time.Duration
	// Keep is told of a call that may have changed its directory, before the call's
	// result is written; nil means that there is nothing to keep. If it fails, so
	// does the step.
	Keep func(ctx context.Context, id pawl.SessionID, dir string) error

	Service pawl.Service         // where subagents are made; nil means that there are none
	Ended   func(pawl.SessionID) // told when a subagent's work has ended; nil means nobody
}

// Stepper takes the steps of turns. One serves any number of sessions at once;
// within a session it takes one step at a time. All its knowledge of a session
// is the log's, kept in memory between steps as a fold that only reads on.
//
// A step's context that is canceled cancels the turn: what has come so far is
// kept and the log says so. One that ends with a cause of its own (the process
// shuts down, the lease is lost) takes the work away: the turn stays open.
type Stepper struct {
	Config
	tooLarge tooLarge
	mu       sync.Mutex
	journals map[pawl.SessionID]*journal
	welcomed map[pawl.SessionID]place    // sessions that hooks were told the start of
	heeded   map[pawl.SessionID]heeded   // what waits for hooks, or runs, before a turn
	canceled map[pawl.SessionID]pawl.Seq // commands of the person's up to here are not to be run
	later    map[pawl.SessionID][]string // what hooks have to say before the next step
}

var _ Steps[context.Context] = (*Stepper)(nil)

// takenAway returns the cause of its own that ctx has ended with, or nil.
func takenAway(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return nil
}

// NewStepper returns a Stepper.
func NewStepper(c Config) *Stepper {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Stepper{
		Config: c, journals: map[pawl.SessionID]*journal{},
		welcomed: map[pawl.SessionID]place{}, heeded: map[pawl.SessionID]heeded{}, canceled: map[pawl.SessionID]pawl.Seq{}, later: map[pawl.SessionID][]string{},
	}
}

// Forget drops what is remembered of a session. The next step reads its log anew.
func (s *Stepper) Forget(id pawl.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.journals, id)
	delete(s.canceled, id)
}

// Begin returns the turn to work on: the open one or, for the oldest prompt
// that waits, a new one. What was ordered while no turn is open it carries out
// first. ok is false when there is nothing to do.
func (s *Stepper) Begin(ctx context.Context, id pawl.SessionID) (t pawl.Turn, ok bool, err error) {
	j, err := s.enter(ctx, id)
	if err != nil {
		return pawl.Turn{}, false, err
	}
	defer j.leave()
	for j.history.Open() == nil {
		if orders := j.history.Orders(); len(orders) > 0 {
			if err := s.carryOut(ctx, j, orders[0]); err != nil {
				return pawl.Turn{}, false, err
			}
			continue
		}
		waiting := j.history.Waiting()
		if len(waiting) == 0 {
			return pawl.Turn{}, false, nil
		}
		if err := s.start(ctx, j, waiting[0]); err != nil {
			return pawl.Turn{}, false, err
		}
	}
	open := j.history.Open()
	if err := j.bring(ctx); err != nil {
		return pawl.Turn{}, false, err
	}
	s.greet(ctx, j, open)
	t = pawl.Turn{Session: id, Number: open.Number, Prompt: open.Prompt, MaxSteps: open.Settings.MaxSteps}
	if def, err := j.agent(open.Settings.Agent); err == nil && t.MaxSteps == 0 {
		t.MaxSteps = def.Steps
	}
	return t, true, nil
}

// Prepare takes in the prompts that steer, tells the model what it must know (a
// budget runs out, it goes round in circles, this is the last step), and makes
// the conversation smaller when the model's window is nearly full.
func (s *Stepper) Prepare(ctx context.Context, t pawl.Turn) error {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) >= t.Step {
		return nil // an earlier attempt went beyond
	}
	s.noteServers(j, t.Number)
	warning, err := s.budget(ctx, j)
	if err != nil {
		return err
	}
	bodies, err := s.returned(ctx, open)
	if err != nil {
		return err
	}
	news, err := s.advanceMission(ctx, j)
	if err != nil {
		return err
	}
	bodies = append(bodies, news...)
	if warning != "" {
		bodies = append(bodies, pawl.Injected{Source: "budget", Text: warning})
	}
	circles, err := s.guardLoops(ctx, j)
	if err != nil {
		return err
	}
	bodies = append(bodies, circles...)
	if t.Last() && !slices.Contains(open.Injected, "max_steps") {
		bodies = append(bodies, pawl.Injected{Source: "max_steps", Text: wrapUp})
	}
	if err := s.welcome(ctx, j, open.Settings); err != nil { // if Begin could not
		return err
	}
	if err := s.takeIn(ctx, j, append(bodies, s.afterthoughts(j)...)); err != nil {
		return err
	}
	if err := s.fit(ctx, j, t); err != nil {
		return err
	}
	if after := s.afterthoughts(j); len(after) > 0 {
		_, err = j.append(ctx, after...)
	}
	return err
}

// takeIn appends the bodies, and what takes in the prompts that steer.
func (s *Stepper) takeIn(ctx context.Context, j *journal, bodies []pawl.Body) error {
	for { // again if one of them is taken back just now
		all := slices.Clone(bodies)
		waits := func() bool { return true }
		for _, w := range j.steering() {
			more, err := s.steered(ctx, j, w)
			if err != nil {
				return err
			}
			before, same := waits, j.waitsAs(w)
			all, waits = append(all, more...), func() bool { return before() && same() }
		}
		if len(all) == 0 {
			return nil
		}
		if stored, err := j.appendIf(ctx, waits, all...); err != nil || stored != nil {
			return err
		}
	}
}

const wrapUp = "This is the last step that you are allowed in this turn: no tools can be called any more. " +
	"Say what is done, what is not, and how to go on."

// Settle lets the turn go on if a person has steered it meanwhile, when a subagent
// that worked in the background comes back, or if hooks want it to.
func (s *Stepper) Settle(ctx context.Context, t pawl.Turn) (again bool, err error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return false, err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) > t.Step || len(open.Injected) > 0 || len(j.steering()) > 0 {
		return true, nil
	}
	if children := untold(open); len(children) > 0 && !t.Last() {
		return true, s.awaitAny(ctx, children)
	}
	if again, err := s.settleMission(ctx, j, t); again || err != nil {
		return again, err
	}
	return s.kept(ctx, j, t)
}

// Finish ends the turn: calls that have no result get one, and the log says why
// it ended. A turn that has ended already is left alone.
func (s *Stepper) Finish(ctx context.Context, t pawl.Turn, stop pawl.Stop) error {
	j, err := s.enter(ctx, t.Session)
	if err != nil {
		return err
	}
	defer j.leave()
	open := j.history.Open()
	if open == nil || open.Number != t.Number {
		return nil
	}
	s.noteServers(j, t.Number)
	if err := s.cancelChildren(ctx, j); err != nil {
		return err
	}
	if s.commands(j) {
		if err := s.Missions.Leave(ctx, bridge{j}); err != nil {
			s.notice(j, t.Number, err.Error())
		}
	}
	bodies := append(j.unasked(), j.abandon(ctx, pawl.CallCanceled)...)
	replies := 0
	for _, step := range open.Steps {
		if step.Reply != nil {
			replies++
		}
	}
	bodies = append(bodies, notMeant(open, stop)...)
	bodies = append(bodies, pawl.TurnFinished{
		Reason: stop.Reason, Fault: stop.Fault, Message: stop.Message, Steps: replies, Usage: open.Usage,
	})
	settings := open.Settings
	if _, err = j.append(ctx, bodies...); err == nil {
		s.notifyEnd(ctx, j, settings, stop)
	}
	return err
}

// notMeant accepts the prompts once more that came after a cancel and were taken
// into the turn before it took effect: they are worked on in a turn of their own.
func notMeant(open *pawl.OpenTurn, stop pawl.Stop) []pawl.Body {
	if stop.Reason != pawl.ReasonCanceled || stop.UpTo == 0 {
		return nil
	}
	var bodies []pawl.Body
	for _, w := range open.Steered {
		if w.Seq > stop.UpTo {
			again := w.Prompt
			again.Again = w.Seq
			bodies = append(bodies, again)
		}
	}
	return bodies
}
