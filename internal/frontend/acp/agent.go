package acp

import (
	"cmp"
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
	"github.com/pawl-dev/pawl/internal/humanize"
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
	// Models lists the models that can be chosen; nil means none.
	Models func(ctx context.Context) ([]Model, error)
	// Mode returns the permission mode that applies in a directory with these
	// settings.
	Mode func(ctx context.Context, dir string, s pawl.Settings) (string, error)
	// Commands lists the slash commands of a directory; nil means none.
	Commands func(ctx context.Context, dir string) ([]Command, error)
	// Expand replaces the slash command that a prompt begins with; nil leaves prompts
	// as they are.
	Expand Expand
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

// Expand changes a prompt of a session in dir. It returns notes for the user.
type Expand func(ctx context.Context, dir string, p *pawl.Prompt) (notes []string, err error)

// Mask returns a function that takes text in pieces and passes it to show with secrets
// masked. It buffers what could be the beginning of a secret.
type Mask func(show func(text string)) func(text string)

// Model is a model that can be chosen.
type Model struct{ Ref, Name string }

// Command is a slash command.
type Command struct{ Name, Description, Hint string }

// modes are the permission modes that can be chosen.
var modes = []struct{ id, name, about string }{
	{"plan", "Plan", "Read and plan, change nothing"},
	{"ask", "Ask", "Ask before every change and command"},
	{"guard", "Guard", "Work in the sandbox, ask before leaving it"},
	{"auto", "Auto", "Work in the sandbox, deny everything outside it"},
	{"yolo", "Yolo", "Allow everything, without a sandbox"},
}

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

// sessionSettings are the mode and the models of a session.
type sessionSettings struct {
	mode, model string
	models      []Model
}

// checkDir checks the working directory of a session.
func checkDir(dir string, more []string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fault.New(pawl.ErrInvalid, "the directory %q is not absolute", dir).Hint("Open a directory in the editor.")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fault.New(pawl.ErrInvalid, "%s is not a directory", dir).Hint("Open an existing directory in the editor.")
	}
	if len(more) > 0 {
		return "", fault.New(pawl.ErrInvalid, "a session has one working directory, but %d were given", len(more)+1).Hint("Open one directory only.")
	}
	return filepath.Clean(dir), nil
}

// createSession creates a session. Its events are followed only when the editor knows
// its id.
func (a *agent) createSession(ctx context.Context, dir string, servers []Server) (*session, sessionSettings, error) {
	model := a.Settings.Model
	if model == "" {
		var err error
		if model, err = a.Model(ctx); err != nil {
			return nil, sessionSettings{}, err
		}
	}
	c, err := a.sessionSettings(ctx, dir, a.Settings, model)
	if err != nil {
		return nil, sessionSettings{}, err
	}
	row, err := a.Service.Create(ctx, pawl.NewSession{Dir: dir})
	if err != nil {
		return nil, sessionSettings{}, err
	}
	s := a.openSession(row, a.Settings)
	s.model, s.notes = model, append(a.useServers(ctx, row, servers), a.notes(ctx, dir)...)
	return s, c, nil
}

// sessionSettings returns the mode and the models for a session in a directory.
func (a *agent) sessionSettings(ctx context.Context, dir string, settings pawl.Settings, model string) (c sessionSettings, err error) {
	c.model = model
	if c.mode, err = a.Mode(ctx, dir, settings); err != nil {
		return c, err
	}
	if a.Models == nil {
		return c, nil
	}
	if c.models, err = a.Models(ctx); err != nil {
		return c, err
	}
	if !slices.ContainsFunc(c.models, func(m Model) bool { return m.Ref == model }) {
		c.models = append([]Model{{Ref: model, Name: model}}, c.models...)
	}
	return c, nil
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
		id: row.ID, dir: row.Dir, head: row.Head, svc: a.Service, editor: a.editor, mask: a.Mask, running: &a.running,
		settings: settings, waiters: map[pawl.Seq]*waiter{}, stop: func() {}, followed: make(chan struct{}),
	}
	s.markFollowed = sync.OnceFunc(func() { close(s.followed) })
	s.buffers = a.registerBuffers(row.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if before := a.sessions[row.ID]; before != nil {
		before.stop()
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

// loadSession opens an existing session, replays its events unless quiet, and resumes
// interrupted work.
func (a *agent) loadSession(ctx context.Context, id pawl.SessionID, dir string, servers []Server, quiet bool) (sessionSettings, error) {
	row, err := a.Service.Get(ctx, id)
	switch {
	case errors.Is(err, pawl.ErrNotFound):
		return sessionSettings{}, fault.New(pawl.ErrNotFound, "session %q not found", id).Hint("Start a new session.")
	case err != nil:
		return sessionSettings{}, fmt.Errorf("load session %q: %w", id, err)
	}
	if !sameDir(row.Dir, dir) {
		return sessionSettings{}, fault.New(pawl.ErrInvalid, "session %s belongs to %s", id, row.Dir).Hint("Open that directory, or start a new session.")
	}
	events, err := history(ctx, a.Service, row)
	if err != nil {
		return sessionSettings{}, err
	}
	settings := a.Settings
	if settings.Mode == "" {
		settings.Mode = a.lastMode(events)
	}
	c, err := a.sessionSettings(ctx, row.Dir, settings, cmp.Or(settings.Model, row.Model))
	if err != nil {
		return c, err
	}
	s := a.openSession(row, settings)
	s.notes = append(a.useServers(ctx, row, servers), a.notes(ctx, row.Dir)...)
	t := newRenderer(s)
	t.silent = quiet
	if err := t.replay(ctx, events); err != nil {
		return c, err
	}
	a.showCommands(ctx, s)
	a.follow(s, t)
	if row.State() == pawl.StateIdle {
		return c, nil
	}
	if err := a.Service.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
		return c, err
	}
	return c, nil
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

// lastMode returns the last mode that the user chose, or "" if none exists or it is
// not available here.
func (a *agent) lastMode(events []pawl.Event) string {
	mode := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			mode = cmp.Or(b.Mode, mode)
		case pawl.ModeChanged:
			mode = b.Mode
		default: // no mode
		}
	}
	if !slices.Contains(a.modes(), mode) {
		return ""
	}
	return mode
}

// modes returns the ids of the modes that can be chosen.
func (a *agent) modes() []string {
	var list []string
	for _, m := range modes {
		if m.id != "yolo" || a.Settings.Mode == "yolo" {
			list = append(list, m.id)
		}
	}
	return list
}

// setMode sets the permission mode of the next prompt.
func (a *agent) setMode(id pawl.SessionID, mode string) error {
	if !slices.Contains(a.modes(), mode) {
		if mode == "yolo" {
			return fault.New(pawl.ErrInvalid, "the mode yolo is not enabled").Hint("Start `pawl acp --mode yolo` to enable it.")
		}
		return fault.New(pawl.ErrInvalid, "unknown mode %q: use %s", mode, humanize.Join(a.modes(), "or"))
	}
	return a.set(id, func(s *pawl.Settings) { s.Mode = mode })
}

// setModel sets the model of the next prompt. Whether the model exists is checked when
// the prompt is sent.
func (a *agent) setModel(id pawl.SessionID, ref string) error {
	return a.set(id, func(s *pawl.Settings) { s.Model = ref })
}

func (a *agent) set(id pawl.SessionID, change func(*pawl.Settings)) error {
	s, err := a.session(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.settings)
	return nil
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
	a.release(ctx, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	s.stop()
	delete(a.sessions, id)
	return nil
}

// listSessions returns a page of sessions and the cursor of the next page, "" if it is
// the last.
func (a *agent) listSessions(ctx context.Context, dir, cursor string) (page []pawl.Session, next string, err error) {
	f := pawl.Filter{Dir: dir, Limit: listedPage}
	if cursor != "" {
		if f.Before, err = time.Parse(time.RFC3339Nano, cursor); err != nil {
			return nil, "", fault.New(pawl.ErrInvalid, "invalid cursor %q", cursor)
		}
	}
	if page, err = a.Service.List(ctx, f); err != nil {
		return nil, "", err
	}
	if len(page) == listedPage {
		next = page[len(page)-1].Updated.Format(time.RFC3339Nano)
	}
	return page, next, nil
}
