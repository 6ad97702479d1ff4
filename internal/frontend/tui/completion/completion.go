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

// Kind is what is completed.
type Kind int

// The kinds.
const (
	None     Kind = iota
	Commands      // slash commands
	Mentions      // mentions
)

// Limits of the search for files.
const (
	pause    = 40 * time.Millisecond // after a key, before the search starts
	maxFiles = 50
	maxWait  = 5 * time.Second // for a result
)

// Complete shows completions for the text at the cursor.
type Complete struct {
	shared *ui.Shared
	Pause  time.Duration // before the search for files

	folder pawl.Project
	loaded bool // the project was loaded, or cannot be
	dir    string

	kind   Kind
	query  string
	list   list
	number int  // of the last search: results of earlier ones are dropped
	waits  bool // for its result
	fault  error
	cancel context.CancelFunc
}

// New returns a closed completion.
func New(s *ui.Shared) *Complete { return &Complete{shared: s, Pause: pause} }

// loadedMsg is the loaded project.
type loadedMsg struct {
	dir    string
	folder pawl.Project
	err    error
}

// searchMsg ends the pause after a key.
type searchMsg struct{ number int }

// foundMsg are the matching files.
type foundMsg struct {
	number int
	files  []string
	err    error
}

// Load loads the project of a directory.
func (c *Complete) Load(dir string) tea.Cmd {
	if c.dir != dir {
		c.folder, c.loaded = pawl.Project{}, false
	}
	c.dir = dir
	svc, ctx := c.shared.Service, c.shared.Context
	return func() tea.Msg {
		f, err := svc.Look(ctx, dir)
		return loadedMsg{dir, f, err}
	}
}

// Project returns the project; false if it is not loaded yet.
func (c *Complete) Project() (pawl.Project, bool) { return c.folder, c.loaded }

// Ask shows the completions for a query, and starts the search for files.
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

// search starts a search for files after a pause, unless another key is pressed.
func (c *Complete) search() tea.Cmd {
	c.stop()
	c.waits = true
	if len(c.list.choices) == 0 {
		c.show(nil)
	}
	number := c.number
	return tea.Tick(c.Pause, func(time.Time) tea.Msg { return searchMsg{number} })
}

// stop cancels the running search.
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

// show shows files and the other matches.
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

// spelled returns the mention of a file. It returns false if the name has invisible
// characters or could not be parsed again.
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

// Close closes the completion.
func (c *Complete) Close() {
	c.stop()
	c.kind, c.query, c.fault = None, "", nil
	c.list.set(picker.Query{}, nil)
}

// Update handles a message.
func (c *Complete) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case loadedMsg:
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

// learn stores the loaded project. A service without projects is not an error.
func (c *Complete) learn(m loadedMsg) {
	if m.dir != c.dir {
		return
	}
	c.loaded = m.err == nil || errors.Is(m.err, pawl.ErrUnavailable)
	if m.err == nil {
		c.folder = m.folder
	}
	if c.kind == Commands {
		q := picker.NewQuery(c.query)
		c.list.set(q, rank(q, commands(c.folder)))
	}
}

// Open reports whether there are completions.
func (c *Complete) Open() bool {
	return c.kind != None && (len(c.list.choices) > 0 || c.kind == Mentions && (c.waits || c.fault != nil))
}

// Move moves the selection.
func (c *Complete) Move(by int) { c.list.move(by) }

// Choice returns the selected completion.
func (c *Complete) Choice() (Choice, bool) {
	if c.kind == None {
		return Choice{}, false
	}
	return c.list.chosen()
}

// Kind returns what is completed.
func (c *Complete) Kind() Kind { return c.kind }

// View draws the completions.
func (c *Complete) View(width int) []string {
	if !c.Open() {
		return nil
	}
	lines := c.list.view(c.shared, width)
	switch {
	case errors.Is(c.fault, pawl.ErrUnavailable):
		lines = append(lines, c.shared.Styles.Muted.Render("  file search is not available here: type the path after @"))
	case c.fault != nil:
		lines = append(lines, c.shared.Styles.Muted.Render("  file search failed: type the path after @"))
	case len(lines) == 0:
		lines = append(lines, c.shared.Styles.Muted.Render("  searching files …"))
	}
	return lines
}
