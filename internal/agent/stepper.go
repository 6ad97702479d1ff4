// Package agent implements the agent loop (Run), its steps (Stepper) and the agents
// themselves: their definitions, system prompts, tools, permissions, subagents, hooks,
// context compaction and undo.
//
// A Stepper keeps no truth of its own: every step reads the session's log first and
// writes what it did to it, so that a step can be repeated after a crash.
package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Bus stores and distributes a Stepper's events.
type Bus interface {
	// Append stores the events and sends them to listeners; see store.Store.
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	// Publish sends an event to current listeners without storing it.
	Publish(e pawl.Event)
	// Events yields the events after the given Seq, then new ones; see pawl.Service.
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Config configures a Stepper.
type Config struct {
	Store store.Store
	Bus   Bus
	Model func(ref string) (model.Model, error) // opens a model by its ref
	Tools *tool.Registry
	Clock func() time.Time // nil means time.Now

	// Window returns the size of a model's context window; nil means unknown.
	Window func(ref string) (model.Window, error)
	// SummaryModel returns the model that writes titles and summaries for sessions with
	// the given model. nil, or "", means that none are written.
	SummaryModel func(ref string) (string, error)
	// SmallModel returns the small model of the given model's provider, for agents that
	// ask for one. nil, or "", means the session's model.
	SmallModel func(ref string) (string, error)
	// Snapshots keeps the contents of workspaces, so that changes by calls can be shown
	// and undone; nil means that no snapshots are taken.
	Snapshots Snapshots

	// Commands knows the outcomes of commands that were interrupted; nil means that they
	// are unknown.
	Commands Commands

	Authority Authority        // decides what calls may do; nil denies every call
	Hooks     Hooks            // nil means no hooks
	Redact    *redact.Redactor // masks secrets in tool results; nil masks by their shape only

	// Extensions reads the configuration of the project and the user: agents, rules,
	// skills. nil means no configuration.
	Extensions func(ctx context.Context, dir string, s pawl.Settings) (*extension.Found, error)

	Servers Servers // MCP servers, whose tools are offered with the others; nil means none

	// Buffers returns the open editor buffers of a session, nil if it has none; nil means
	// that there are no editors.
	Buffers func(pawl.SessionID) toolapi.Buffers

	Missions Missions // mission control; nil means that there are no missions

	// Suspend makes steps return a *Suspended instead of waiting, for runners that wait
	// elsewhere: at once when a step waits for the user, after SuspendAfter when it waits
	// for other sessions.
	Suspend      bool
	SuspendAfter time.Duration // 0 means 2 minutes
	// Unattended reports whether nobody who could answer an ask has been connected for so
	// long, since a time, that the ask is closed; nil means that somebody always is.
	Unattended func(since time.Time) bool
	// Checkpoint saves the workspace of a call that may have changed it, before the call's
	// result is written. If it fails, so does the step. nil means that none are saved.
	Checkpoint func(ctx context.Context, id pawl.SessionID, dir string) error

	Service       pawl.Service         // creates the sessions of subagents; nil means no subagents
	SubagentEnded func(pawl.SessionID) // called when a subagent has ended; may be nil
}

// Stepper implements the steps of turns. One Stepper serves any number of sessions at
// once; within a session it takes one step at a time. Everything it knows about a
// session comes from the log; between steps it keeps the fold in memory and reads only
// new events.
//
// Canceling a step's context cancels the turn: the output so far is kept, and the log
// says so. A context that ends with another cause (the process shuts down, the lease is
// lost) leaves the turn open, to be resumed.
type Stepper struct {
	Config
	tooLarge tooLarge
	sessions sessionStates
	accounts accounts
}

var _ Steps[context.Context] = (*Stepper)(nil)

// NewStepper returns a Stepper.
func NewStepper(c Config) *Stepper {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Stepper{Config: c}
}

// Forget drops what is remembered of a session's log and cancels. The next step reads the
// log again, even if a step that started before is still running.
func (s *Stepper) Forget(id pawl.SessionID) {
	s.sessions.update(id, func(st *sessionState) { st.journal, st.canceledUpTo = nil, 0 })
}

// lostSession returns the cause if ctx was ended by a shutdown or a lost lease rather than
// by the user, else nil.
func lostSession(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return nil
}
