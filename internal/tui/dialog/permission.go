// Package dialog has the windows in which pawl asks something.
package dialog

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// settle is how long a dialog is shown before it takes an answer: keys that were
// pressed for something else must not answer it.
const settle = 400 * time.Millisecond

// Permission asks whether a call may run.
type Permission struct {
	shared  *ui.Shared
	session pawl.SessionID
	seq     pawl.Seq
	ask     pawl.Asked
	shown   time.Time
}

// NewPermission returns the dialog of an ask.
func NewPermission(s *ui.Shared, id pawl.SessionID, seq pawl.Seq, ask pawl.Asked) *Permission {
	return &Permission{shared: s, session: id, seq: seq, ask: ask}
}

// Seq is the ask that it is about.
func (p *Permission) Seq() pawl.Seq { return p.seq }

// Update takes a key.
func (p *Permission) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return p, nil
	}
	if p.shown.IsZero() || time.Since(p.shown) < settle {
		return p, nil
	}
	switch k.String() {
	case "y", "enter":
		return nil, p.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered})
	case "a":
		if len(p.ask.Offer) > 0 {
			return nil, p.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: p.ask.Offer})
		}
	case "n", "esc":
		return nil, p.answer(pawl.Answer{Outcome: pawl.OutcomeDeclined})
	}
	return p, nil
}

func (p *Permission) answer(a pawl.Answer) tea.Cmd {
	return ui.Do(func() error { return p.shared.Service.Answer(p.shared.Context, p.session, p.seq, a) })
}

// View draws it.
func (p *Permission) View(width, height int) string {
	if p.shown.IsZero() {
		p.shown = time.Now()
	}
	s := p.shared.Styles
	width = min(width-4, 100)
	var b strings.Builder
	b.WriteString(s.Warn.Render("May this run?") + "\n\n")
	text := strings.Split(ansi.Wrap(plain.Marked(p.ask.Text), width-4, ""), "\n")
	if room := max(1, height-10); len(text) > room {
		text = append(text[:room], s.Muted.Render(fmt.Sprintf("… %d more lines", len(text)-room)))
	}
	b.WriteString(strings.Join(text, "\n") + "\n\n")
	for _, rule := range p.ask.Offer {
		b.WriteString(s.Muted.Render("always adds ") + plain.Line(string(rule)) + "\n")
	}
	b.WriteString(s.Accent.Render("y") + " yes, once   ")
	if len(p.ask.Offer) > 0 {
		b.WriteString(s.Accent.Render("a") + " always   ")
	}
	b.WriteString(s.Accent.Render("n") + " no")
	return lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).BorderForeground(s.Warn.GetForeground()).Padding(0, 1).Width(width).Render(b.String())
}
