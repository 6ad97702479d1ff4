package completion

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Kind says what is offered.
type Kind int

// The kinds.
const (
	None     Kind = iota
	Commands      // what a prompt begins with
	Mentions      // what it mentions
)

// The measures of the search for files.
const (
	pause    = 40 * time.Millisecond // after a key, before files are searched for
	maxFiles = 50
	maxWait  = 5 * time.Second // for an answer
)

// Complete offers what fits what is being written.
type Complete struct {
	shared *ui.Shared
	Pause  time.Duration // before files are searched for

	folder pawl.Project
	looked bool // the directory is known, or that nobody knows it
	dir    string

	kind   Kind
	query  string
	list   list
	number int  // of the newest search: answers to others are dropped
	waits  bool // for its answer
	fault  error
	cancel context.CancelFunc
}

// New returns one that offers nothing yet.
func New(s *ui.Shared) *Complete { return &Complete{shared: s, Pause: pause} }

// lookedMsg is what a directory has.
type lookedMsg struct {
	dir    string
	folder pawl.Project
	err    error
}

// searchMsg says that the pause after a key is over.
type searchMsg struct{ number int }

// foundMsg are the files that fit.
type foundMsg struct {
	number int
	files  []string
	err    error
}

// Look learns what a directory has to offer.
func (c *Complete) Look(dir string) tea.Cmd {
	if c.dir != dir {
		c.folder, c.looked = pawl.Project{}, false
	}
	c.dir = dir
	svc, ctx := c.shared.Service, c.shared.Context
	return func() tea.Msg {
		f, err := svc.Look(ctx, dir)
		return lookedMsg{dir, f, err}
	}
}

// Directory is what is known of the directory; false if that is not known yet.
func (c *Complete) Folder() (pawl.Project, bool) { return c.folder, c.looked }

// Ask offers what fits a query, and returns what has more looked for.
func (c *Complete) Ask(kind Kind, query string) tea.Cmd {
	if kind == c.kind && query == c.query {
		return nil
	}
	c.kind, c.query, c.fault = kind, query, nil
	switch kind {
	case Commands:
		c.stop()
		q := picker.NewQuery(query)
		c.list.set(q, rank(q, commands(c.folder)))
		return nil
	case Mentions:
		return c.search()
	default:
		c.Close()
		return nil
	}
}

// search has files looked for after a pause, unless another key is pressed.
func (c *Complete) search() tea.Cmd {
	c.stop()
	c.waits = true
	if len(c.list.choices) == 0 {
		c.show(nil)
	}
	number := c.number
	return tea.Tick(c.Pause, func(time.Time) tea.Msg { return searchMsg{number} })
}

// stop gives up the search that is under way.
func (c *Complete) stop() {
	c.number++
	c.waits = false
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
}

func (c *Complete) files() tea.Cmd {
	ctx, cancel := context.WithTimeout(c.shared.Context, maxWait)
	c.cancel = cancel
	svc, dir, query, number := c.shared.Service, c.dir, c.query, c.number
	return func() tea.Msg {
		files, err := svc.Files(ctx, dir, query, maxFiles)
		return foundMsg{number, files, err}
	}
}

// show offers files, and what else fits.
func (c *Complete) show(files []string) {
	q := picker.NewQuery(c.query)
	choices := rank(q, mentions(c.folder))
	for _, f := range files {
		if name, ok := spelled(f); ok {
			choices = append(choices, Choice{Text: "@" + name})
		}
	}
	c.list.set(q, choices)
}

// spelled is how a file is mentioned. It returns false if it cannot be: its name
// does not show, or could not be read out of the prompt again.
func spelled(path string) (string, bool) {
	switch {
	case textinput.Mentionable(path):
		return path, true
	case sanitize.Line(path) != path || strings.Contains(path, `"`):
		return "", false
	default:
		return `"` + path + `"`, true
	}
}

// Close offers nothing.
func (c *Complete) Close() {
	c.stop()
	c.kind, c.query, c.fault = None, "", nil
	c.list.set(picker.Query{}, nil)
}

// Update takes a message.
func (c *Complete) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case lookedMsg:
		c.learn(m)
	case searchMsg:
		if m.number == c.number && c.kind == Mentions {
			return c.files()
		}
	case foundMsg:
		if m.number == c.number && c.kind == Mentions {
			c.stop()
			c.fault = m.err
			c.show(m.files)
		}
	}
	return nil
}

// learn takes in what a directory has. A service that knows of none has nothing more
// to offer; that is no failure.
func (c *Complete) learn(m lookedMsg) {
	if m.dir != c.dir {
		return
	}
	c.looked = m.err == nil || errors.Is(m.err, pawl.ErrUnavailable)
	if m.err == nil {
		c.folder = m.folder
	}
	if c.kind == Commands {
		q := picker.NewQuery(c.query)
		c.list.set(q, rank(q, commands(c.folder)))
	}
}

// Open reports whether something is offered.
func (c *Complete) Open() bool {
	return c.kind != None && (len(c.list.choices) > 0 || c.kind == Mentions && (c.waits || c.fault != nil))
}

// Move puts the bar on another choice.
func (c *Complete) Move(by int) { c.list.move(by) }

// Choice is what the bar is on.
func (c *Complete) Choice() (Choice, bool) {
	if c.kind == None {
		return Choice{}, false
	}
	return c.list.chosen()
}

// Kind is what is offered.
func (c *Complete) Kind() Kind { return c.kind }

// View draws what is offered.
func (c *Complete) View(width int) []string {
	if !c.Open() {
		return nil
	}
	lines := c.list.view(c.shared, width)
	switch {
	case errors.Is(c.fault, pawl.ErrUnavailable):
		lines = append(lines, c.shared.Styles.Muted.Render("  files cannot be searched here: write the path behind the @"))
	case c.fault != nil:
		lines = append(lines, c.shared.Styles.Muted.Render("  the search for files failed: write the path behind the @"))
	case len(lines) == 0:
		lines = append(lines, c.shared.Styles.Muted.Render("  looking for files …"))
	}
	return lines
}
