package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
)

// The smallest screen that is drawn.
const (
	minWidth  = 20
	minHeight = 8
)

// View draws the screen: the conversation, the prompt, the status line.
func (a *app) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.ReportFocus = true, true
	if a.theme.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if screen := a.shared.Styles.Theme.ScreenOn(a.theme.background); screen != nil {
		v.BackgroundColor, v.ForegroundColor = screen, a.shared.Styles.Text.GetForeground()
	}
	v.WindowTitle = a.theme.symbols(a.title())
	switch {
	case a.width == 0:
		return v
	case a.width < minWidth || a.height < minHeight:
		a.tooSmall = true
		v.Content = a.fitMessage(fmt.Sprintf("Pawl needs %d columns and %d rows", minWidth, minHeight))
	default:
		a.draw(&v)
	}
	v.Content = a.theme.symbols(fit(v.Content, a.height))
	return v
}

// draw draws the parts, and the top dialog over them.
func (a *app) draw(v *tea.View) {
	a.editor.SetWidth(a.width)
	above := slices.Concat(a.taskLines(), []string{a.rule()}, a.todoLines())
	a.editor.SetMaxHeight(a.height - 2 - len(above)) // leaves space for a line of conversation, the lines above the prompt, and the status line
	below := slices.Concat(above, []string{a.editor.View()})
	height := a.height - 1 - lipgloss.Height(strings.Join(below, "\n"))
	panel := a.docked(height)
	talk := a.conversation(height - len(panel))
	a.editor.SetTop(height + len(above))
	v.Content = strings.Join(slices.Concat(talk, panel, below, []string{a.status()}), "\n") // drawn last: the status line depends on the scroll position
	a.tooSmall = false
	if len(a.dialogs) > 0 && panel == nil {
		a.drawDialog(v)
		return
	}
	if c := a.editor.Cursor(); c != nil && a.composing() {
		c.Y += height + len(above)
		v.Cursor = c
	}
}

// drawDialog draws the top dialog over the screen.
func (a *app) drawDialog(v *tea.View) {
	panel := a.dialogs[len(a.dialogs)-1].View(a.width, a.height)
	if a.tooSmall = lipgloss.Width(panel) > a.width || lipgloss.Height(panel) > a.height; a.tooSmall {
		v.Content = a.fitMessage("The window is too small for this dialog. Enlarge it, or press " + a.shared.Keys.Key(keys.Quit) + " to quit.")
		return
	}
	v.Content = a.overlay(v.Content, panel)
}

// resize sets the size. A dialog that did not fit and does now starts its input lock
// again, as if it had just opened.
func (a *app) resize(m tea.WindowSizeMsg) tea.Cmd {
	a.width, a.height = m.Width, m.Height
	cmd := a.updateDialogs(m)
	if a.tooSmall && len(a.dialogs) > 0 {
		return tea.Batch(cmd, a.topChanged())
	}
	return cmd
}

// tooSmallKey handles a key while the top dialog does not fit. Asks cannot be answered
// unseen; other dialogs can be closed, and pawl can be quit.
func (a *app) tooSmallKey(k tea.KeyPressMsg) tea.Cmd {
	_, asks := a.dialogs[len(a.dialogs)-1].(dialog.Asker)
	switch {
	case a.shared.Keys.Action(keys.Global, k.String()) == keys.Quit:
		return tea.Quit
	case !asks && a.shared.Keys.Action(keys.Dialog, k.String()) == keys.Close:
		return a.forward(k)
	}
	return nil
}

// userInput reports whether a message is input for the visible screen: mouse or paste.
func userInput(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.MouseMsg, tea.PasteMsg, tea.ClipboardMsg:
		return true
	}
	return false
}

// fitMessage wraps a text to the screen's width.
func (a *app) fitMessage(text string) string { return ansi.Wrap(text, max(1, a.width), "") }

// fit pads or truncates the drawing to the height of the screen.
func fit(content string, height int) string {
	lines := strings.Split(content, "\n")
	lines = lines[:min(len(lines), height)]
	return strings.Join(lines, "\n") + strings.Repeat("\n", height-len(lines))
}

// overlay draws a dialog over the screen. The cells beside it are blank, because
// fragments of text would distract.
func (a *app) overlay(content, panel string) string {
	lines, above := strings.Split(content, "\n"), strings.Split(panel, "\n")
	x, y := max(0, (a.width-lipgloss.Width(panel))/2), max(0, (a.height-len(above))/2)
	a.panelTop = y
	for i, line := range above {
		if y+i < len(lines) {
			lines[y+i] = strings.Repeat(" ", x) + line
		}
	}
	return strings.Join(lines, "\n")
}

// taskLines returns lines about running subagents and jobs.
func (a *app) taskLines() []string {
	if line := a.tasks.Line(a.width); line != "" {
		return []string{line}
	}
	return nil
}

func (a *app) rule() string { return a.shared.Styles.Border.Render(strings.Repeat("─", a.width)) }
