// Package pager shows a long output that is stored beside the log.
package pager

import (
	"context"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxBytes bounds how much of an output is read.
const maxBytes = 8 << 20

// Pager is a full-screen dialog with a text.
type Pager struct {
	shared *ui.Shared
	title  string
	lines  []string // sanitized
	cut    bool
	top    int
	height int // rows of text, as drawn last
}

// Open reads an output and shows it.
func Open(s *ui.Shared, id pawl.SessionID, title, blob string) tea.Cmd {
	return func() tea.Msg {
		text, cut, err := read(s.Context, s.Service, id, blob)
		if err != nil {
			return ui.Failed{Err: fmt.Errorf("open the output: %w", err)}
		}
		return ui.Open{Dialog: New(s, title, text, cut)}
	}
}

func read(ctx context.Context, svc pawl.Service, id pawl.SessionID, blob string) (text string, cut bool, err error) {
	r, err := svc.Output(ctx, id, blob)
	if err != nil {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if closed := r.Close(); err == nil {
		err = closed
	}
	if len(data) > maxBytes {
		data, cut = data[:maxBytes], true
	}
	return string(data), cut, err
}

// New returns a pager; cut means that the text is incomplete.
func New(s *ui.Shared, title, text string, cut bool) *Pager {
	lines := strings.Split(strings.TrimRight(sanitize.Text(text), "\n"), "\n")
	return &Pager{shared: s, title: sanitize.Line(title), lines: lines, cut: cut}
}

// Update handles a key or the mouse wheel.
func (p *Pager) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			p.move(-3)
		} else {
			p.move(3)
		}
	case tea.KeyPressMsg:
		if p.shared.Keys.Action(keys.Dialog, m.String()) == keys.Close || m.String() == "q" {
			return nil, nil
		}
		p.key(m.String())
	}
	return p, nil
}

func (p *Pager) key(k string) {
	switch k {
	case "up", "k":
		p.move(-1)
	case "down", "j":
		p.move(1)
	case "pgup", "b":
		p.move(-p.height)
	case "pgdown", "space", " ":
		p.move(p.height)
	case "home", "g":
		p.top = 0
	case "end", "G", "shift+g":
		p.move(len(p.lines))
	}
}

func (p *Pager) move(n int) { p.top = min(max(0, p.top+n), max(0, len(p.lines)-1)) }

// View draws the pager over the whole screen.
func (p *Pager) View(width, height int) string {
	s := p.shared.Styles
	muted := layout.SGROf(s.Muted)
	p.height = max(1, height-2)
	rows := []string{layout.Fill(width, "", layout.Span{Text: " " + p.title, SGR: layout.SGROf(s.Bold)})}
	for i := p.top; i < len(p.lines) && len(rows) <= p.height; i++ {
		for _, l := range layout.Chop([]layout.Span{{Text: layout.Tabs(head(p.lines[i], width*p.height)), SGR: layout.SGROf(s.Text)}}, width-1, layout.Same(layout.Span{Text: " "})) {
			if len(rows) <= p.height {
				rows = append(rows, fill(l.Text, width))
			}
		}
	}
	for len(rows) <= p.height {
		rows = append(rows, strings.Repeat(" ", width))
	}
	hint := fmt.Sprintf(" line %d of %d · esc: close", p.top+1, len(p.lines))
	if p.cut {
		hint = fmt.Sprintf(" line %d of the first %d MB · esc: close", p.top+1, maxBytes>>20)
	}
	return strings.Join(append(rows, layout.Fill(width, "", layout.Span{Text: hint, SGR: muted})), "\n")
}

// head returns as much of a line as could be visible.
func head(line string, cells int) string {
	if len(line) <= 4*cells {
		return line
	}
	return strings.ToValidUTF8(line[:4*cells], "")
}

func fill(line string, width int) string {
	return line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line)))
}
