package sessions

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Sizes, in cells.
const (
	wideInner  = 90 // from this width on, there is a preview beside the list
	stateCells = 7
	costCells  = 8
	ageCells   = 4
	minTitle   = 16 // least width of the title, before columns are omitted
	minRows    = 3
	aboveRows  = 3  // lines above the rows
	around     = 5  // lines of the frame, the query and the gaps
	wideRows   = 12 // with a preview
)

// View draws the dialog in at most that many cells.
func (d *Dialog) View(width, height int) string {
	s := d.shared.Styles
	f := dialog.Frame{Styles: s, Tone: s.Accent, Title: d.heading(), Right: d.count(), Width: width}
	inner := f.Inner()
	d.narrow = inner < wideInner
	foot := d.faults(inner)
	hints := d.hints(inner)
	foot = append(foot, hints[:min(len(hints), max(1, height-around-minRows-len(foot)))]...)
	available := max(minRows, height-around-len(foot))
	lines := append([]string{d.searchLine(inner), ""}, d.body(inner, available)...)
	frame := f.Render(append(append(lines, ""), foot...))
	x, y := max(0, (width-lipgloss.Width(frame))/2), max(0, (height-lipgloss.Height(frame))/2)
	d.area = area{x + 2, y + aboveRows, d.area.width, d.listed}
	return frame
}

// area is the position of the rows on the screen.
type area struct{ x, y, width, height int }

// click selects the row under the mouse. It reports whether it was selected already: a
// second click opens.
func (d *Dialog) click(m tea.MouseClickMsg) bool {
	n := d.top + m.Y - d.area.y
	inside := m.X >= d.area.x && m.X < d.area.x+d.area.width && m.Y >= d.area.y && m.Y < d.area.y+d.area.height
	if m.Button != tea.MouseLeft || !inside || n >= len(d.rows) {
		return false
	}
	again := n == d.at
	d.at = n
	return again
}

func (d *Dialog) heading() string {
	if d.all {
		return "Sessions in all projects"
	}
	return "Sessions in this project"
}

// count returns how many are listed.
func (d *Dialog) count() string {
	n := humanize.Plural(len(d.rows), "session")
	if d.cursor != "" && len(d.rows) > 0 {
		return n + " or more"
	}
	return n
}

func (d *Dialog) searchLine(width int) string {
	s := d.shared.Styles
	if d.query == "" {
		return s.Accent.Render("›") + " " + s.Muted.Render("type to search")
	}
	text := sanitize.Line(d.query)
	if over := ansi.StringWidth(text) - (width - 4); over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return s.Accent.Render("›") + " " + text + s.Accent.Render("▏")
}

// body returns the list and, if there is space, the preview.
func (d *Dialog) body(width, available int) []string {
	d.tallest = max(d.tallest, len(d.rows))
	if d.narrow {
		return d.list(width, min(available, max(minRows, d.tallest)))
	}
	left := width / 2
	rows := min(available, max(wideRows, d.tallest))
	list, p := d.list(left, rows), d.previewLines(width-left-3, rows)
	bar := d.shared.Styles.Border.Render(" │ ")
	for i := range list {
		list[i] += strings.Repeat(" ", max(0, left-ansi.StringWidth(list[i]))) + bar
		if i < len(p) {
			list[i] += p[i]
		}
	}
	return list
}

// list draws the visible rows.
func (d *Dialog) list(width, height int) []string {
	d.listed, d.area.width = height, width
	d.top = min(max(d.top, d.at-height+1), d.at)
	d.top = max(0, min(d.top, len(d.rows)-height))
	lines := make([]string, height)
	for i := range lines {
		if n := d.top + i; n < len(d.rows) {
			lines[i] = d.row(d.rows[n], n == d.at, width)
		}
	}
	if len(d.rows) == 0 {
		lines[0] = d.shared.Styles.Muted.Render(d.nothing())
	}
	return lines
}

func (d *Dialog) nothing() string {
	switch {
	case d.loading:
		return "loading …"
	case d.query != "" && !d.all:
		return "No matches in this project"
	case d.query != "":
		return "No matches"
	default:
		return "No sessions yet"
	}
}

// row draws a session: title, state, cost, age. What does not fit is omitted, the cost
// first.
func (d *Dialog) row(s pawl.Session, chosen bool, width int) string {
	if chosen && d.renaming != nil {
		return d.renameRow(width)
	}
	state, tone := d.state(s)
	type cell struct {
		text string
		tone lipgloss.Style
	}
	muted := d.shared.Styles.Muted
	cells := []cell{{fmt.Sprintf("%*s", ageCells, humanize.Age(d.now().Sub(s.Updated))), muted}}
	used := 2 + 1 + ageCells
	if available := width - used - stateCells - 1; available >= minTitle {
		cells = append([]cell{{fmt.Sprintf("%-*s", stateCells, state), tone}}, cells...)
		used += stateCells + 1
	}
	if available := width - used - costCells - 1; available >= minTitle {
		cost := ""
		if s.Usage.Cost > 0 {
			cost = humanize.Dollars(s.Usage.Cost)
		}
		last := len(cells) - 1
		cells = append(cells[:last:last], cell{fmt.Sprintf("%*s", costCells, cost), muted}, cells[last])
		used += costCells + 1
	}
	mark := "  "
	if chosen {
		mark = "› "
	}
	name := ansi.Truncate(d.name(s), max(1, width-used), "…")
	line := mark + name + strings.Repeat(" ", max(0, width-used-ansi.StringWidth(name)))
	for _, c := range cells {
		if chosen {
			line += " " + c.text
		} else {
			line += " " + c.tone.Render(c.text)
		}
	}
	if chosen {
		return d.shared.Styles.Selected.Render(line)
	}
	return line
}

// name returns the session's title; of another directory's, with that directory.
func (d *Dialog) name(s pawl.Session) string {
	name := title(s)
	if s.ID == d.shown {
		name = "• " + name
	}
	if d.all && s.Dir != d.shared.Dir {
		name = sanitize.Line(filepath.Base(s.Dir)) + ": " + name
	}
	return name
}

func (d *Dialog) renameRow(width int) string {
	text := sanitize.Line(*d.renaming)
	if over := ansi.StringWidth(text) - (width - 4); over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	s := d.shared.Styles
	return s.Accent.Render("› ") + text + s.Accent.Render("▏")
}

// state describes what a session does.
func (d *Dialog) state(s pawl.Session) (string, lipgloss.Style) {
	p := d.shared.Styles
	switch {
	case s.Asks > 0 && s.TurnOpen:
		return "waiting", p.Warn
	case s.TurnOpen:
		return "working", p.Accent
	case s.Queued > 0:
		return "queued", p.Accent
	default:
		return "", p.Muted
	}
}

// faults returns the lines with the error, or with who holds the session.
func (d *Dialog) faults(width int) []string {
	s := d.shared.Styles
	if d.fault != nil {
		lines := strings.Split(ansi.Wrap(sanitize.Line(fault.Text(d.fault)), width, ""), "\n")
		for i := range lines {
			lines[i] = s.Bad.Render(lines[i])
		}
		return lines
	}
	if row, ok := d.session(); ok && d.held[row.ID] != "" && row.State() != pawl.StateIdle {
		return []string{s.Warn.Render(ansi.Truncate("in use by "+sanitize.Line(d.held[row.ID]), width, "…"))}
	}
	return nil
}

// hints returns the key hints.
func (d *Dialog) hints(width int) []string {
	k, s := d.shared.Keys, d.shared.Styles
	if d.renaming != nil {
		return dialog.Hints(s, width, true, dialog.Hint{Key: k.Key(keys.Choose), Does: "save"}, dialog.Hint{Key: k.Key(keys.Close), Does: "cancel"})
	}
	folders := "all projects"
	if d.all {
		folders = "this project"
	}
	return dialog.Hints(s, width, true,
		dialog.Hint{Key: k.Key(keys.Choose), Does: "open"}, dialog.Hint{Key: k.Key(keys.SessionNew), Does: "new"},
		dialog.Hint{Key: k.Key(keys.SessionRename), Does: "rename"}, dialog.Hint{Key: k.Key(keys.SessionFork), Does: "fork"},
		dialog.Hint{Key: k.Key(keys.SessionDelete), Does: "delete"}, dialog.Hint{Key: k.Key(keys.SessionProjects), Does: folders},
		dialog.Hint{Key: k.Key(keys.Close), Does: "close"})
}
