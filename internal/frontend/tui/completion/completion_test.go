package completion

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// service implements the parts of pawl.Service that describe a project.
type service struct {
	pawl.Service
	folder pawl.Project
	files  func(ctx context.Context, query string) ([]string, error)
	err    error
}

func (d *service) Look(context.Context, string) (pawl.Project, error) { return d.folder, d.err }

func (d *service) Files(ctx context.Context, _, query string, _ int) ([]string, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.files(ctx, query)
}

func newComplete(t *testing.T, d *service) *Complete {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	th, _ := theme.Find("plain", nil)
	c := New(&ui.Shared{Service: d, Context: t.Context(), Styles: theme.New(th), Keys: k})
	c.Pause = 0
	c.Update(c.Load("/work")())
	return c
}

// settle does what commands say until there is nothing more to do.
func settle(c *Complete, cmd tea.Cmd) {
	for cmd != nil {
		cmd = c.Update(cmd())
	}
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	for i, l := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	uitest.Same(t, path, got)
}

func folder() pawl.Project {
	return pawl.Project{
		Commands: []pawl.CommandInfo{
			{Name: "review", Description: "look at a change\x1b[2J", Arguments: "<branch>", Origin: "project"},
			{Name: "quit", Description: "steal the name", Origin: "project"},
			{Name: "docs:write", Description: "of the server docs", Origin: "mcp"},
		},
		Agents:  []pawl.AgentInfo{{Name: "explore", Description: "reads only"}},
		Servers: []pawl.ServerInfo{{Name: "docs", State: "ready"}, {Name: "off", State: "failed"}},
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	d := &service{folder: folder(), files: func(_ context.Context, query string) ([]string, error) {
		return []string{"internal/" + query + ".go", "evil\x1b]0;x\x07/" + query, "with blank/" + query}, nil
	}}
	for _, c := range []struct {
		name  string
		kind  Kind
		query string
	}{
		{"commands", Commands, ""},
		{"commands-re", Commands, "re"},
		{"commands-none", Commands, "zzz"},
		{"mentions", Mentions, ""},
		{"mentions-ex", Mentions, "ex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newComplete(t, d)
			settle(x, x.Ask(c.kind, c.query))
			golden(t, c.name, x.View(78))
		})
	}
}

// TestNoProject checks that a service without projects leaves the built-in commands, and that the list says that
// files cannot be searched.
func TestNoProject(t *testing.T) {
	t.Parallel()
	x := newComplete(t, &service{err: pawl.ErrUnavailable})
	if _, known := x.Project(); !known {
		t.Error("the folder stays unknown")
	}
	settle(x, x.Ask(Commands, "hel"))
	if c, ok := x.Choice(); !ok || c.Text != "/help" {
		t.Errorf("got %v", c)
	}
	settle(x, x.Ask(Mentions, "a"))
	golden(t, "no-desk", x.View(78))
}

// TestSlowSearch checks that a new query cancels the previous search and discards its late result.
func TestSlowSearch(t *testing.T) {
	t.Parallel()
	type search struct {
		query  string
		ctx    context.Context //nolint:containedctx // to see it end
		answer chan []string
	}
	searches := make(chan search)
	d := &service{files: func(ctx context.Context, query string) ([]string, error) {
		s := search{query, ctx, make(chan []string)}
		searches <- s
		return <-s.answer, nil
	}}
	x := newComplete(t, d)
	begin := func(query string) (search, chan tea.Msg) {
		cmd := x.Update(x.Ask(Mentions, query)())
		done := make(chan tea.Msg, 1)
		go func() { done <- cmd() }()
		return <-searches, done
	}
	first, firstDone := begin("a")
	if view := strings.Join(x.View(78), "\n"); !strings.Contains(view, "searching files") {
		t.Errorf("it does not say that it looks: %q", view)
	}
	second, secondDone := begin("ab")
	if first.ctx.Err() == nil {
		t.Error("the first search goes on")
	}
	second.answer <- []string{"ab.go"}
	x.Update(<-secondDone)
	first.answer <- []string{"a.go"}
	x.Update(<-firstDone)
	if c, ok := x.Choice(); !ok || c.Text != "@ab.go" {
		t.Errorf("got %v", c)
	}

	// A pause that ends after another key has no search begun.
	stale := x.Ask(Mentions, "abc")
	x.Ask(Mentions, "abcd")
	if cmd := x.Update(stale()); cmd != nil {
		t.Error("a search began for what is not written any more")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name, arguments string
		ok                    bool
	}{
		{"/help", "help", "", true},
		{"/rename a title\nof two lines\n", "rename", "a title\nof two lines", true},
		{"/docs:write x", "docs:write", "x", true},
		{"/etc/passwd is a file", "", "", false},
		{" /help", "", "", false},
		{"/", "", "", false},
		{"no /help", "", "", false},
	} {
		name, arguments, ok := Parse(c.text)
		if name != c.name || arguments != c.arguments || ok != c.ok {
			t.Errorf("%q: got %q %q %v", c.text, name, arguments, ok)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"hepl": `Did you mean "/help"?`, "reviw": `Did you mean "/review"?`, "zzzzz\x1b[2J": `unknown command "/zzzzz\u{1b}[2J". To`} {
		if err := Unknown(name, folder()); !errors.Is(err, pawl.ErrNotFound) || !strings.Contains(fault.Text(err), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPalette: every command is in the palette once, and none of the directory
// takes the place of one of the terminal.
func TestPalette(t *testing.T) {
	t.Parallel()
	x := newComplete(t, &service{folder: folder()})
	golden(t, "palette", strings.Split(NewPalette(x.shared, x.folder).View(80, 44), "\n"))
	var names []string
	for _, c := range commands(x.folder) {
		names = append(names, c.Text)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a name comes twice: %v", names)
	}
}
