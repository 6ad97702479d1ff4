package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/plain"
)

// View draws the screen: the conversation, the prompt, the status.
func (a *app) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.MouseMode, v.ReportFocus = true, tea.MouseModeCellMotion, true
	v.WindowTitle = a.title()
	if a.width == 0 {
		return v
	}
	a.editor.Resize(a.width)
	above := append(a.strips(), a.rule())
	below := slices.Concat(above, []string{a.editor.View(), a.status()})
	room := a.height - lipgloss.Height(strings.Join(below, "\n"))
	a.view.Resize(a.width, room)
	a.editor.Place(room + len(above))
	content := strings.Join(append(a.view.Render(), below...), "\n")
	if n := len(a.dialogs); n > 0 {
		v.Content = a.over(content, a.dialogs[n-1].View(a.width, a.height))
		return v
	}
	v.Content = content
	if c := a.editor.Cursor(); c != nil && !a.inChat && !a.view.Finding() {
		c.Y += room + len(above)
		v.Cursor = c
	}
	return v
}

// over puts a dialog above the screen.
func (a *app) over(content, dialog string) string {
	x, y := max(0, (a.width-lipgloss.Width(dialog))/2), max(0, (a.height-lipgloss.Height(dialog))/2)
	return lipgloss.NewCompositor(lipgloss.NewLayer(content), lipgloss.NewLayer(dialog).X(x).Y(y).Z(1)).Render()
}

// strips are lines about what goes on beside the conversation.
func (a *app) strips() []string {
	if line := a.tasks.Line(a.width); line != "" {
		return []string{line}
	}
	return nil
}

func (a *app) rule() string { return a.shared.Styles.Border.Render(strings.Repeat("─", a.width)) }

// status is the last line.
func (a *app) status() string {
	s := a.shared.Styles
	if a.message != "" {
		style := s.Muted
		if a.failed {
			style = s.Bad
		}
		return style.Render(ansi.Truncate(plain.Line(a.message), a.width, "…"))
	}
	settings := a.view.Log.Settings()
	left := []string{}
	if a.view.Log.Working() {
		left = append(left, s.Accent.Render("works")+s.Muted.Render(" esc interrupts"))
	}
	if settings.Model != "" {
		left = append(left, s.Muted.Render(plain.Line(settings.Model)))
	}
	if settings.Mode != "" {
		left = append(left, s.Muted.Render(plain.Line(settings.Mode)))
	}
	if u := a.view.Log.Usage(); u.Tokens() > 0 {
		left = append(left, s.Muted.Render(fmt.Sprintf("%d tokens", u.Tokens())))
	}
	if !a.view.Follows() {
		left = append(left, s.Warn.Render("↓ more"))
	}
	return ansi.Truncate(" "+strings.Join(left, s.Muted.Render(" · ")), a.width, "…")
}
