// Package service implements pawl.Service over a store, a bus and a runner.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// Bus stores and distributes events.
type Bus interface {
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Runner runs the turns of sessions.
type Runner interface {
	// Start starts to work on the session; ErrBusy if another process does.
	Start(ctx context.Context, id pawl.SessionID) error
	// Wake makes sure that this or another process works on the session.
	Wake(ctx context.Context, id pawl.SessionID) error
	// Answered notifies the runner of an answer in the log.
	Answered(ctx context.Context, id pawl.SessionID) error
	// Cancel cancels the open turn and every prompt up to the given Seq.
	Cancel(ctx context.Context, id pawl.SessionID, upTo pawl.Seq) error
}

// Config configures a Service.
type Config struct {
	Store  store.Store
	Bus    Bus
	Runner Runner
	// Check returns an error if settings are not valid in a directory. It is called before a
	// prompt is accepted.
	Check func(ctx context.Context, dir string, s pawl.Settings) error
	// Model returns the default model for a session whose first prompt names none; nil means
	// that it must.
	Model func() (string, error)
	// PlanUndo returns what an undo or redo would do.
	PlanUndo func(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error)
	// CopySnapshots keeps a session's snapshots for its fork too; nil if there are no snapshots.
	CopySnapshots func(ctx context.Context, dir string, from, to pawl.SessionID) error
	// DeleteSnapshots deletes a session's snapshots; nil if there are no snapshots.
	DeleteSnapshots func(ctx context.Context, id pawl.SessionID) error
	// WorkspaceUnused is called with a workspace whose last session was deleted; may be nil.
	WorkspaceUnused func(ctx context.Context, dir string) error
	// DeclareSource sets the repository that a new workspace is cloned from; nil if workspaces
	// are not cloned.
	DeclareSource func(ctx context.Context, dir, source string) error
	// Abandoned reports whether no process works on a session that has work; nil if that
	// cannot be.
	Abandoned func(ctx context.Context, id pawl.SessionID) (bool, error)
	Clock     func() time.Time // nil means time.Now

	Projects pawl.Projects // nil means that all of its methods fail with ErrUnavailable
}

// Service implements pawl.Service.
type Service struct {
	Config
	pawl.Projects
}

var _ pawl.Service = (*Service)(nil)

// New returns a Service.
func New(c Config) *Service {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Projects == nil {
		c.Projects = noProjects{}
	}
	return &Service{c, c.Projects}
}

// Create creates an empty session.
func (s *Service) Create(ctx context.Context, n pawl.NewSession) (pawl.Session, error) {
	id, err := newID(n.ID)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("create session: %w", err)
	}
	created, err := s.created(ctx, n)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("create session: %w", err)
	}
	events := []pawl.Event{s.event(created)}
	if n.Title != "" {
		events = append(events, s.event(pawl.SessionTitled{Title: n.Title}))
	}
	if _, err := s.Bus.Append(ctx, id, 0, events...); err != nil {
		return pawl.Session{}, fmt.Errorf("create session: %w", err)
	}
	return s.Get(ctx, id)
}

// created returns the first event of a new session. It declares the source of the workspace.
func (s *Service) created(ctx context.Context, n pawl.NewSession) (pawl.SessionCreated, error) {
	switch {
	case n.Workspace != "":
		return pawl.SessionCreated{}, fault.New(pawl.ErrInvalid, "named workspaces need a fleet server").Hint("Name a directory instead.")
	case !filepath.IsAbs(n.Dir):
		return pawl.SessionCreated{}, fault.New(pawl.ErrInvalid, "directory %q is not an absolute path", n.Dir)
	case n.Source != "" && s.DeclareSource == nil:
		return pawl.SessionCreated{}, fault.New(pawl.ErrInvalid, "only a fleet server can fetch a repository").Hint("Clone the repository and name its directory.")
	}
	owner, err := s.ownerOf(ctx, n)
	if err == nil && n.Source != "" {
		err = s.DeclareSource(ctx, n.Dir, n.Source)
	}
	return pawl.SessionCreated{Dir: n.Dir, Parent: n.Parent, ParentCall: n.ParentCall, Owner: owner}, err
}

// newID returns the id of a new session: the given one, if any.
func newID(given pawl.SessionID) (pawl.SessionID, error) {
	if given == "" {
		return pawl.SessionID(ulid.Make().String()), nil
	}
	if !given.Valid() {
		return "", fault.New(pawl.ErrInvalid, "invalid session id %q", given)
	}
	return given, nil
}

// Get returns one session.
func (s *Service) Get(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return pawl.Session{}, err
	}
	rows, err := s.withSubagents(ctx, []pawl.Session{row})
	if err != nil {
		return pawl.Session{}, err
	}
	return rows[0], nil
}

// List returns a page of the sessions that match.
func (s *Service) List(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	page, err := s.Store.Sessions(ctx, f)
	if err != nil {
		return page, err
	}
	page.Sessions, err = s.withSubagents(ctx, page.Sessions)
	return page, err
}

// withSubagents adds the usage of the sessions' subagents to the rows.
func (s *Service) withSubagents(ctx context.Context, rows []pawl.Session) ([]pawl.Session, error) {
	if len(rows) == 0 {
		return rows, nil
	}
	ids := make([]pawl.SessionID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	sums, err := s.Store.SubagentUsage(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Usage = rows[i].Usage.Add(sums[rows[i].ID])
	}
	return rows, nil
}

// Usage returns the usage of the replies that match.
func (s *Service) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	return s.Store.Usage(ctx, f)
}

// Send accepts a prompt and wakes the runner.
func (s *Service) Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	seq, err := s.accept(ctx, id, p)
	if err != nil {
		return 0, err
	}
	if err := s.Runner.Wake(ctx, id); err != nil {
		return seq, fmt.Errorf("start session %s (the prompt is saved and can be resumed): %w", id, err)
	}
	return seq, nil
}

// check is Config.Check. An error without a code becomes ErrInvalid, because the caller can fix
// its settings.
func (s *Service) check(ctx context.Context, dir string, settings pawl.Settings) error {
	err := s.Check(ctx, dir, settings)
	if err != nil && ctx.Err() == nil && pawl.CodeOf(err) == pawl.CodeInternal {
		err = fault.New(pawl.ErrInvalid, "%w", err)
	}
	return err
}

// model returns the first name that is not empty, or the default model.
func (s *Service) model(names ...string) (string, error) {
	if name := cmp.Or(names...); name != "" || s.Model == nil {
		return name, nil
	}
	return s.Model()
}

// accept appends the prompt. Whether the session is busy depends on the end of the log: if the
// log has grown in the meantime, accept checks again.
func (s *Service) accept(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	if err := checkParts(p.Parts); err != nil {
		return 0, fault.New(pawl.ErrInvalid, "invalid prompt: %w", err)
	}
	switch p.Delivery {
	case pawl.DeliverNow, pawl.DeliverQueue, pawl.DeliverSteer:
	default:
		return 0, fault.New(pawl.ErrInvalid, "unknown delivery %q: use queue or steer, or omit it", p.Delivery)
	}
	mode, err := agent.ModeOf(p.Settings)
	if err != nil {
		return 0, err
	}
	for {
		row, err := s.Store.Session(ctx, id)
		if err != nil {
			return 0, err
		}
		p.Mode = cmp.Or(mode, keptMode(row))
		if p.Delivery == pawl.DeliverNow && row.State() != pawl.StateIdle {
			return 0, &pawl.BusyError{Session: id}
		}
		if p.Settings, err = teamSettings(row, p.Settings); err != nil {
			return 0, err
		}
		if p.Model, err = s.model(p.Model, row.Model); err != nil {
			return 0, err
		}
		if err := s.check(ctx, row.Dir, p.Settings); err != nil {
			return 0, err
		}
		if err := s.checkMission(ctx, row, p); err != nil {
			return 0, err
		}
		stored, err := s.Bus.Append(ctx, id, row.Head, s.event(pawl.Prompted{Parts: p.Parts, Delivery: p.Delivery, By: access.ActorOf(ctx), Settings: p.Settings, Approve: p.Approve, Pause: p.Pause}))
		if err == nil {
			return stored[0].Seq, nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return 0, fmt.Errorf("send: %w", err)
		}
	}
}

// keptMode returns the permission mode for a prompt that chooses none: the session's, so that continuing a
// session never loosens it. "" means the default: for a session in a mode that may be looser than that, and for
// one whose mode was that of its agent.
func keptMode(row pawl.Session) string {
	own, err := agent.ModeOf(pawl.Settings{Agent: row.Agent})
	switch row.Mode {
	case "ask", "guard", "plan":
		if err == nil && own != row.Mode {
			return row.Mode
		}
	}
	return ""
}

// checkParts returns an error unless the parts of a prompt are texts and files, and not empty.
func checkParts(parts pawl.Parts) error {
	empty := true
	for _, part := range parts {
		switch p := part.(type) {
		case pawl.Text:
			empty = empty && strings.TrimSpace(p.Text) == ""
		case pawl.File:
			empty = false
		default:
			return fmt.Errorf("a prompt cannot contain a %T", part)
		}
	}
	if empty {
		return errors.New("the prompt is empty")
	}
	return nil
}

// Answer answers an ask of the session. Whether the ask is still open depends on the end of the
// log: if the log has grown in the meantime, Answer checks again.
func (s *Service) Answer(ctx context.Context, id pawl.SessionID, ask pawl.Seq, a pawl.Answer) error {
	for {
		asked, head, err := s.openAsk(ctx, id, ask)
		if err != nil {
			return err
		}
		err = asked.Body.(pawl.Asked).Check(a)
		if err == nil {
			_, err = permission.ParseOffer(a.Always)
		}
		if err != nil {
			return fault.New(pawl.ErrInvalid, "invalid answer: %w", err)
		}
		answered := s.event(pawl.Answered{Ask: ask, By: access.ActorOf(ctx), Answer: a})
		answered.Turn = asked.Turn
		_, err = s.Bus.Append(ctx, id, head, answered)
		if err == nil {
			if err := s.Runner.Answered(ctx, id); err != nil {
				return fmt.Errorf("resume session %s (the answer is saved): %w", id, err)
			}
			return nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// openAsk returns an open ask, and the Seq of the end of the log.
func (s *Service) openAsk(ctx context.Context, id pawl.SessionID, ask pawl.Seq) (asked pawl.Event, head pawl.Seq, err error) {
	if ask < 1 {
		return asked, 0, fault.New(pawl.ErrNotFound, "session %s has no question %d", id, ask)
	}
	for e, err := range s.Store.Events(ctx, id, ask-1) {
		if err != nil {
			return asked, 0, err
		}
		head = e.Seq
		ended := false
		switch b := e.Body.(type) {
		case pawl.Asked:
			if e.Seq == ask {
				asked = e
			}
		case pawl.Answered:
			ended = b.Ask == ask
		case pawl.CallFinished: // it ended without an answer
			ended = asked.Body != nil && asked.Body.(pawl.Asked).Call == b.Call
		case pawl.TurnFinished:
			ended = true
		default:
		}
		switch {
		case asked.Body == nil:
			return asked, 0, fault.New(pawl.ErrNotFound, "session %s has no question %d", id, ask)
		case ended:
			return asked, 0, fault.New(pawl.ErrConflict, "question %[2]d of session %[1]s no longer needs an answer", id, ask)
		}
	}
	if asked.Body == nil {
		return asked, 0, fault.New(pawl.ErrNotFound, "session %s has no question %d", id, ask)
	}
	return asked, head, nil
}

// Resume resumes an interrupted session.
func (s *Service) Resume(ctx context.Context, id pawl.SessionID) error {
	if _, err := s.Store.Session(ctx, id); err != nil {
		return err
	}
	return s.Runner.Start(ctx, id)
}

// Cancel cancels the open turn and all prompts accepted so far.
func (s *Service) Cancel(ctx context.Context, id pawl.SessionID) error {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	if row.State() == pawl.StateIdle {
		return nil
	}
	return s.Runner.Cancel(ctx, id, row.Head)
}

// Events yields the events after the given Seq, then new ones as they come.
func (s *Service) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return s.Bus.Events(ctx, id, after)
}

// Draft returns the part of the current reply that has been received so far.
func (s *Service) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	d, err := s.Store.Draft(ctx, id)
	if err != nil {
		return pawl.Draft{}, err
	}
	for e, err := range s.Store.Events(ctx, id, d.Reply) {
		if err != nil {
			return pawl.Draft{}, err
		}
		switch e.Body.(type) {
		case pawl.Replied, pawl.TurnFinished:
			return pawl.Draft{}, fault.New(pawl.ErrNotFound, "session %s has no draft: the reply has ended", id)
		default:
		}
	}
	return d, nil
}

// Delete deletes a session and everything that belongs to it. If its snapshots cannot be
// deleted, the session still is.
func (s *Service) Delete(ctx context.Context, id pawl.SessionID) error {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := s.Store.Delete(ctx, id); err != nil {
		return err
	}
	if err := s.releaseWorkspace(ctx, row); err != nil {
		return fmt.Errorf("session %s was deleted, but its workspace data was not: %w", id, err)
	}
	if s.DeleteSnapshots == nil {
		return nil
	}
	if err := s.DeleteSnapshots(ctx, id); err != nil {
		return fmt.Errorf("session %s was deleted, but its checkpoints were not (`pawl gc` removes them): %w", id, err)
	}
	return nil
}

// releaseWorkspace calls WorkspaceUnused if the workspace has no session any more.
func (s *Service) releaseWorkspace(ctx context.Context, row pawl.Session) error {
	if s.WorkspaceUnused == nil || row.Parent != "" {
		return nil
	}
	others, err := s.Store.Sessions(ctx, pawl.Filter{Dir: row.Dir, Limit: 1})
	if err != nil || len(others.Sessions) > 0 {
		return err
	}
	return s.WorkspaceUnused(ctx, row.Dir)
}

func (s *Service) event(b pawl.Body) pawl.Event { return pawl.Event{At: s.Clock(), Body: b} }

// MaxShared bounds with how many users a session is shared.
const MaxShared = 100
