package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Config configures Serve. Service, Model and Mode are required.
type Config struct {
	Service  pawl.Service
	Version  string
	Settings pawl.Settings // of every prompt; Mode yolo makes yolo available to the user

	// Model returns the model for a new session. Its error says what is missing and
	// what to do.
	Model func(ctx context.Context) (string, error)
	// Window returns the size of a model's context window in tokens, 0 if it is unknown;
	// a nil func means that all are.
	Window func(ref string) int64
	// Agents lists the agents of a directory; a nil func means that they cannot be
	// chosen.
	Agents func(ctx context.Context, dir string) ([]pawl.AgentInfo, error)
	// Login are the arguments that make the command that the editor runs a login in a
	// terminal; nil means that there is no such login.
	Login []string
	// Mode returns the permission mode that applies in a directory with these
	// settings.
	Mode func(ctx context.Context, dir string, s pawl.Settings) (string, error)
	// Commands lists the slash commands of a directory; nil means none.
	Commands func(ctx context.Context, dir string) ([]Command, error)
	// Notes returns notes about a directory that the user should see.
	Notes func(ctx context.Context, dir string) []string
	// Buffers registers the editor's open files of a session; nil unregisters them. A
	// nil func means that nothing uses them.
	Buffers func(id pawl.SessionID, b toolapi.Buffers)
	// Servers makes a session use exactly these MCP servers of the editor. It returns
	// notes for the user. nil means that the editor's servers are not used.
	Servers func(ctx context.Context, id pawl.SessionID, dir string, servers []Server) (notes []string)
	// Mask masks secrets; nil means no masking.
	Mask Mask
	// Log receives errors of the connection; nil discards them.
	Log io.Writer
}

// Mask returns a function that takes text in pieces and passes it to show with secrets
// masked. It buffers what could be the beginning of a secret.
type Mask func(show func(text string)) func(text string)

// Command is a slash command.
type Command struct{ Name, Description, Hint string }

// agent implements the agent's side of the protocol, apart from the SDK's types.
type agent struct {
	Config
	editor     editor
	newContext func() (context.Context, context.CancelFunc) // derives from the connection's context
	running    sync.WaitGroup

	seen diskHistory

	mu       sync.Mutex
	sessions map[pawl.SessionID]*session
}

func newAgent(c Config) *agent {
	if c.Mask == nil {
		c.Mask = func(show func(string)) func(string) { return show }
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	return &agent{Config: c, sessions: map[pawl.SessionID]*session{}}
}

// setup is what the editor says about a session that it opens.
type setup struct {
	dir     string   // the working directory
	more    []string // further project directories
	servers []Server
}

// check checks the directories.
func (u *setup) check() error {
	for i, dir := range append([]string{u.dir}, u.more...) {
		if !filepath.IsAbs(dir) {
			return fault.New(pawl.ErrInvalid, "the directory %q is not absolute", dir).Hint("Open a directory in the editor.")
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fault.New(pawl.ErrInvalid, "%s is not a directory", dir).Hint("Open an existing directory in the editor.")
		}
		if i == 0 {
			u.dir = filepath.Clean(dir)
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return err
		}
		u.more[i-1] = real
	}
	return nil
}

// settings returns the settings of the prompts of a session.
func (a *agent) settings(u setup) pawl.Settings {
	settings := a.Settings
	for _, dir := range u.more {
		if !slices.Contains(settings.AddDirs, dir) {
			settings.AddDirs = append(slices.Clip(settings.AddDirs), dir)
		}
	}
	return settings
}

// createSession creates a session. Its events are followed only when the editor knows
// its id.
func (a *agent) createSession(ctx context.Context, u setup) (*session, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	settings := a.settings(u)
	model := settings.Model
	if model == "" {
		var err error
		if model, err = a.Model(ctx); err != nil {
			return nil, loginError{err}
		}
	}
	if _, err := a.Mode(ctx, u.dir, settings); err != nil {
		return nil, err
	}
	row, err := a.Service.Create(ctx, pawl.NewSession{Dir: u.dir})
	if err != nil {
		return nil, err
	}
	s := a.openSession(row, settings)
	s.model = model
	a.provide(ctx, s, u)
	return s, nil
}

// loginError means that the user has to log in first.
type loginError struct{ error }

func (e loginError) Unwrap() error { return e.error }

// provide makes what the editor provides available to a session.
func (a *agent) provide(ctx context.Context, s *session, u setup) {
	s.notes = append(a.useServers(ctx, s.id, s.dir, u.servers), a.notes(ctx, s.dir)...)
}

func (a *agent) notes(ctx context.Context, dir string) []string {
	if a.Notes == nil {
		return nil
	}
	return a.Notes(ctx, dir)
}

// openSession registers a session as open in the editor. It replaces an earlier
// registration of the same session.
func (a *agent) openSession(row pawl.Session, settings pawl.Settings) *session {
	s := &session{
		id: row.ID, dir: row.Dir, head: row.Head, svc: a.Service, editor: a.editor, mask: a.Mask, window: a.Window, running: &a.running,
		settings: settings, lastModel: row.Model, waiters: map[pawl.Seq]*waiter{}, stop: func() {}, followed: make(chan struct{}),
	}
	s.markFollowed = sync.OnceFunc(func() { close(s.followed) })
	s.buffers = a.registerBuffers(row.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if before := a.sessions[row.ID]; before != nil {
		before.stop()
	}
	s.options = func(ctx context.Context) ([]configOption, error) {
		r, err := a.state(ctx, s)
		return r.ConfigOptions, err
	}
	a.sessions[row.ID] = s
	return s
}

// follow starts rendering the session's events after the ones that were loaded.
func (a *agent) follow(s *session, t *renderer) {
	ctx, stop := a.newContext()
	a.mu.Lock()
	s.stop = stop
	a.mu.Unlock()
	a.running.Go(func() {
		defer stop()
		err := t.follow(ctx, s.head)
		switch {
		case ctx.Err() == nil:
			fmt.Fprintf(a.Log, "pawl: session %s: stopped following its events: %v\n", s.id, err)
		case !errors.Is(err, errDisconnected):
			err = errSessionClosed
		}
		s.close(err)
	})
}

// showCommands sends the list of slash commands.
func (a *agent) showCommands(ctx context.Context, s *session) {
	if a.Commands == nil {
		return
	}
	list, err := a.Commands(ctx, s.dir)
	if err == nil && len(list) > 0 {
		err = a.editor.show(ctx, s.id, commandsUpdated{list})
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.Log, "pawl: list the commands of %s: %v\n", s.dir, err)
	}
}

// get returns a session that belongs to a directory.
func (a *agent) get(ctx context.Context, id pawl.SessionID, dir string) (pawl.Session, error) {
	row, err := a.Service.Get(ctx, id)
	switch {
	case errors.Is(err, pawl.ErrNotFound):
		return row, fault.New(pawl.ErrNotFound, "session %q not found", id).Hint("Start a new session.")
	case err != nil:
		return row, fmt.Errorf("load session %q: %w", id, err)
	case !sameDir(row.Dir, dir):
		return row, fault.New(pawl.ErrInvalid, "session %s belongs to %s", id, row.Dir).Hint("Open that directory, or start a new session.")
	}
	return row, nil
}

// loadSession opens an existing session, replays its items unless quiet, and resumes
// interrupted work.
func (a *agent) loadSession(ctx context.Context, id pawl.SessionID, u setup, quiet bool) (*session, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	row, err := a.get(ctx, id, u.dir)
	if err != nil {
		return nil, err
	}
	s, r, err := a.replay(ctx, row, u, quiet)
	if err != nil {
		return nil, err
	}
	a.showCommands(ctx, s)
	a.follow(s, r)
	if row.State() == pawl.StateIdle {
		return s, nil
	}
	if err := a.Service.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
		return nil, err
	}
	return s, nil
}

// forkSession creates a session with the conversation of another one. Its events are
// followed only when the editor knows its id.
func (a *agent) forkSession(ctx context.Context, id pawl.SessionID, u setup) (*session, *renderer, error) {
	if err := u.check(); err != nil {
		return nil, nil, err
	}
	if _, err := a.get(ctx, id, u.dir); err != nil {
		return nil, nil, err
	}
	row, err := a.Service.Fork(ctx, id, 0)
	if err != nil {
		return nil, nil, err
	}
	return a.replay(ctx, row, u, true)
}

// replay opens a session with a log and sends its items, unless quiet.
func (a *agent) replay(ctx context.Context, row pawl.Session, u setup, quiet bool) (*session, *renderer, error) {
	events, err := history(ctx, a.Service, row)
	if err != nil {
		return nil, nil, err
	}
	settings := a.settings(u)
	if settings.Mode == "" {
		settings.Mode = a.lastMode(events)
	}
	if _, err := a.Mode(ctx, row.Dir, settings); err != nil {
		return nil, nil, err
	}
	s := a.openSession(row, settings)
	a.provide(ctx, s, u)
	r := newRenderer(s)
	r.silent = quiet
	return s, r, r.replay(ctx, events)
}

// sameDir reports whether two paths name the same directory.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// history reads a session's log up to row.Head.
func history(ctx context.Context, svc pawl.Service, row pawl.Session) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range svc.Events(ctx, row.ID, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq != 0 {
			events = append(events, e)
		}
		if e.Seq >= row.Head {
			break
		}
	}
	return events, ctx.Err()
}

// session returns an open session.
func (a *agent) session(id pawl.SessionID) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, fault.New(pawl.ErrNotFound, "session %q is not open", id).Hint("Load it, or start a new session.")
}

// closeSession cancels the session's work and closes it; its log stays.
func (a *agent) closeSession(ctx context.Context, id pawl.SessionID) error {
	s, err := a.session(id)
	if err != nil {
		return err
	}
	if err := s.cancel(ctx); err != nil {
		return err
	}
	s.drain()
	a.release(ctx, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	s.stop()
	delete(a.sessions, id)
	return nil
}

// deleteSession deletes a session, once its canceled work has ended. A session that does
// not exist is not an error.
func (a *agent) deleteSession(ctx context.Context, id pawl.SessionID) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, err := a.session(id)
	canceled := err == nil
	if canceled {
		if err := a.closeSession(ctx, id); err != nil {
			return err
		}
	}
	for {
		err := a.Service.Delete(ctx, id)
		switch {
		case errors.Is(err, pawl.ErrNotFound):
			return nil
		case !canceled || !errors.Is(err, pawl.ErrBusy):
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollTime): // its turn has ended, but the process has not let go of it yet
		}
	}
}

// listSessions returns a page of sessions and the cursor of the next page, "" if it is
// the last.
func (a *agent) listSessions(ctx context.Context, dir, cursor string) (rows []pawl.Session, next string, err error) {
	page, err := a.Service.List(ctx, pawl.Filter{Dir: dir, Limit: listedPage, Cursor: cursor})
	return page.Sessions, page.Next, err
}
