// Package stats shows token usage and cost: of the session, of the directory, of
// everything.
package stats

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// scope is whose usage is shown.
type scope int

const (
	ofSession scope = iota
	ofFolder
	ofAll
)

// lastDays is how many days are counted for directories; sessions are counted in full.
const lastDays = 30

// Dialog is the window; see [ui.Dialog].
type Dialog struct {
	shared  *ui.Shared
	session pawl.SessionID // "" if there is no session yet
	dir     string
	now     func() time.Time

	scope  scope
	totals *totals // nil while it is read
	fault  error
	pane   dialog.Pane
}

var _ ui.Dialog = (*Dialog)(nil)

// New returns the dialog for the open session and its directory.
func New(s *ui.Shared, id pawl.SessionID, dir string) *Dialog {
	d := &Dialog{shared: s, session: id, dir: dir, now: time.Now}
	if id == "" {
		d.scope = ofFolder
	}
	return d
}

// readMsg is the usage of a scope.
type readMsg struct {
	of   scope
	rows []pawl.UsageRow
	err  error
}

// Shown reads the usage, also when a dialog above it was closed.
func (d *Dialog) Shown() tea.Cmd {
	d.totals, d.fault = nil, nil
	d.pane.Renew()
	f := pawl.UsageFilter{}
	switch d.scope {
	case ofSession:
		f.Session = d.session
	case ofFolder:
		f.Dir, f.Since = d.dir, d.since()
	case ofAll:
		f.Since = d.since()
	}
	svc, ctx, of := d.shared.Service, d.shared.Context, d.scope
	return func() tea.Msg {
		rows, err := svc.Usage(ctx, f)
		return readMsg{of, rows, err}
	}
}

func (d *Dialog) since() time.Time { return d.now().AddDate(0, 0, 1-lastDays) }

// Update handles a message.
func (d *Dialog) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case readMsg:
		if m.of == d.scope {
			t := totalsOf(m.rows)
			d.totals, d.fault = &t, m.err
			d.pane.Renew()
		}
	case tea.MouseWheelMsg:
		d.pane.Wheel(m)
	case tea.KeyPressMsg:
		if d.pane.Key(d.shared.Keys, m.String(), true) {
			return d, nil
		}
		switch {
		case m.String() == "tab":
			return d, d.next()
		case d.shared.Keys.Action(keys.Dialog, m.String()) == keys.Close:
			return nil, nil
		}
	}
	return d, nil
}

// next shows the next scope.
func (d *Dialog) next() tea.Cmd {
	d.scope = (d.scope + 1) % (ofAll + 1)
	if d.scope == ofSession && d.session == "" {
		d.scope = ofFolder
	}
	return d.Shown()
}

func (d *Dialog) heading() string {
	switch d.scope {
	case ofSession:
		return "Usage of this session and its subagents"
	case ofFolder:
		return "Usage in this project"
	default:
		return "Usage in all projects"
	}
}

func (d *Dialog) span() string {
	if d.scope == ofSession {
		return "since it started"
	}
	return fmt.Sprintf("last %d days", lastDays)
}

// View draws the dialog.
func (d *Dialog) View(width, height int) string {
	s := d.shared.Styles
	f := dialog.Frame{Styles: s, Tone: s.Accent, Title: d.heading(), Right: d.span(), Width: width}
	d.pane.Fit(f.Inner(), s, d.text)
	foot := dialog.Hints(s, f.Inner(), true, dialog.Hint{Key: "tab", Does: "session, project, all"}, dialog.Hint{Key: d.shared.Keys.Key(keys.Close), Does: "close"})
	lines := d.pane.View(height - 4 - len(foot))
	return f.Render(append(append(lines[:len(lines):len(lines)], d.pane.More(d.shared)), foot...))
}

// text returns the lines of the dialog.
func (d *Dialog) text(width int) []string {
	s := d.shared.Styles
	switch {
	case d.fault != nil:
		return []string{s.Bad.Render(sanitize.Line(fault.Text(d.fault)))}
	case d.totals == nil:
		return []string{s.Muted.Render("loading …")}
	case d.totals.all.replies == 0:
		return []string{"No usage yet."}
	}
	all := d.totals.all
	head := fmt.Sprintf("%s · %s tokens in, %s out\n%d%% of the input was cached · %s",
		humanize.Plural(all.replies, "reply"), humanize.Short(all.read()), humanize.Short(all.Output), all.cached(), humanize.Dollars(all.Cost))
	lines := strings.Split(ansi.Wrap(head, width, ""), "\n")
	lines = append(lines, d.table("by day (UTC)", d.totals.days, width)...)
	return append(lines, d.table("by model", d.totals.models, width)...)
}
