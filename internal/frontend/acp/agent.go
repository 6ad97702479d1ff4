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
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// Config is what pawl is to an editor. Service, Model and Mode are needed.
type Config struct {
	Service  pawl.Service
	Version  string
	Settings pawl.Settings // of every prompt; a Mode of yolo lets people choose yolo

	// Model is the one that a new session begins with. An error says what is
	// missing, and what to do.
	Model func(ctx context.Context) (string, error)
	// Models are those that can be chosen; nil means that none can.
	Models func(ctx context.Context) ([]Model, error)
	// Mode is the one that holds in a directory for those settings.
	Mode func(ctx context.Context, dir string, s pawl.Settings) (string, error)
	// Commands are what can be called with a slash in a directory; nil means none.
	Commands func(ctx context.Context, dir string) ([]Command, error)
	// Expand makes of a prompt what the command says that it begins with.
	Expand Expand
	// Notes say what a person is to know of a directory.
	Notes func(ctx context.Context, dir string) []string
	// Buffers is told what a session has open in the editor; nil that it has nothing
	// any more. nil means that nobody wants to know.
	Buffers func(id pawl.SessionID, b pawl.Buffers)
	// Servers has a session use these MCP servers, and no others that it was given
	// before, and says what a person is to know of them. nil means that none can be
	// used.
	Servers func(ctx context.Context, id pawl.SessionID, dir string, servers []Server) (notes []string)
	// Mask hides secrets; nil means that there are none.
	Mask Mask
	// Log is where faults of the connection are told; nil means nowhere.
	Log io.Writer
}

// Expand changes a prompt of a session in a directory, and says what is to be known of it.
type Expand func(ctx context.Context, dir string, p *pawl.Prompt) (notes []string, err error)

// Mask returns a function that takes a text in pieces and shows it without
// secrets. What may be the beginning of one it holds back.
type Mask func(show func(text string)) func(text string)

// Model is one that can be chosen.
type Model struct{ Ref, Name string }

// Command is one that can be called with a slash.
type Command struct{ Name, Description, Hint string }

// modes are what a person can choose.
var modes = []struct{ id, name, about string }{
	{"plan", "Plan", "reads, and changes nothing"},
	{"ask", "Ask", "asks before each change and command"},
	{"guard", "Guard", "works in the sandbox, and asks when something would leave it"},
	{"auto", "Auto", "works in the sandbox, and never leaves it"},
	{"yolo", "Yolo", "everything, without a sandbox and without asking"},
}

// agent is pawl as the editor sees it.
type agent struct {
	Config
	editor     editor
	newContext func() (context.Context, context.CancelFunc) // a context that ends with the connection
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

// chosen is what a person has chosen for a session.
type sessionSettings struct {
	mode, model string
	models      []Model
}

// directory checks the directory that a session is to work in.
func checkDir(dir string, more []string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the folder %q is not absolute: open a folder in the editor: %w", dir, pawl.ErrInvalid)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is no folder: open one that is there: %w", dir, pawl.ErrInvalid)
	}
	if len(more) > 0 {
		return "", fmt.Errorf("a session has one folder, and %d more were named: open one alone: %w", len(more), pawl.ErrInvalid)
	}
	return filepath.Clean(dir), nil
}

// create makes a session. Nothing is heard of it before the editor knows its id.
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

// chosen is what holds for a session in a directory.
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

// open makes a session one that the editor has open, instead of an earlier one.
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

// hear begins to tell what happens in a session after it was opened.
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
			fmt.Fprintf(a.Log, "pawl: session %s is not heard any more: %v\n", s.id, err)
		case !errors.Is(err, errDisconnected):
			err = errSessionClosed
		}
		s.close(err)
	})
}

// offer shows which commands there are.
func (a *agent) showCommands(ctx context.Context, s *session) {
	if a.Commands == nil {
		return
	}
	list, err := a.Commands(ctx, s.dir)
	if err == nil && len(list) > 0 {
		err = a.editor.show(ctx, s.id, commandsUpdated{list})
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.Log, "pawl: the commands of %s cannot be offered: %v\n", s.dir, err)
	}
}

// load opens a session that is there, tells what was unless it is to be quiet,
// and goes on with what was left open.
func (a *agent) loadSession(ctx context.Context, id pawl.SessionID, dir string, servers []Server, quiet bool) (sessionSettings, error) {
	row, err := a.Service.Get(ctx, id)
	if err != nil {
		return sessionSettings{}, fmt.Errorf("there is no session %q here: begin a new one: %w", id, err)
	}
	if !sameDir(row.Dir, dir) {
		return sessionSettings{}, fmt.Errorf("session %s is at work in %s: open that folder, or begin a new session: %w", id, row.Dir, pawl.ErrInvalid)
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

// sameFolder reports whether two paths lead to one directory.
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

// history is a session's log up to the head that its row tells.
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

// lastMode is the mode that a person has chosen last, "" if they have not, or if
// it is not to be had here.
func (a *agent) lastMode(events []pawl.Event) string {
	mode := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			mode = cmp.Or(b.Mode, mode)
		case pawl.ModeChanged:
			mode = b.Mode
		default: // says nothing about modes
		}
	}
	if !slices.Contains(a.modes(), mode) {
		return ""
	}
	return mode
}

// modes are those that can be chosen here.
func (a *agent) modes() []string {
	var list []string
	for _, m := range modes {
		if m.id != "yolo" || a.Settings.Mode == "yolo" {
			list = append(list, m.id)
		}
	}
	return list
}

// setMode says how the next prompt may act.
func (a *agent) setMode(id pawl.SessionID, mode string) error {
	if !slices.Contains(a.modes(), mode) {
		hint := ""
		if mode == "yolo" {
			hint = "; for yolo, start 'pawl acp --mode yolo'"
		}
		return fmt.Errorf("there is no mode %q here: choose %s%s: %w", mode, strings.Join(a.modes(), ", "), hint, pawl.ErrInvalid)
	}
	return a.set(id, func(s *pawl.Settings) { s.Mode = mode })
}

// setModel says who works on the next prompt. Whether there is such a model is
// found out when the prompt is sent.
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

// session is one that the editor has open.
func (a *agent) session(id pawl.SessionID) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("session %q is not open here: load it, or begin a new one: %w", id, pawl.ErrNotFound)
}

// end cancels what a session does and forgets it here; its log stays.
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

// list returns a page of the sessions, and where the next begins.
func (a *agent) listSessions(ctx context.Context, dir, cursor string) (page []pawl.Session, next string, err error) {
	f := pawl.Filter{Dir: dir, Limit: listedPage}
	if cursor != "" {
		if f.Before, err = time.Parse(time.RFC3339Nano, cursor); err != nil {
			return nil, "", fmt.Errorf("the cursor %q is none of pawl's: list from the beginning: %w", cursor, pawl.ErrInvalid)
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
