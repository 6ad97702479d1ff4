package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
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
	above := append([]string{a.rule()}, a.strip()...)
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

func (a *app) rule() string { return a.shared.Styles.Border.Render(strings.Repeat("─", a.width)) }
