package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
)

// placeholder is shown in an empty editor.
const placeholder = "Ask Pawl to do something…"

// View draws the lists, the completion and the text.
func (e *Editor) View() string {
	for _, f := range e.draft.files {
		f.shown = true
	}
	return strings.Join(e.lines(), "\n")
}

func (e *Editor) lines() []string {
	lines := e.head()
	rows := len(e.draft.text.Rows(e.textWidth()))
	tall := e.maxTextRows(len(lines))
	e.scroll(min(rows, tall), rows)
	s := e.shared.Styles
	if e.draft.text.Len() == 0 {
		return append(lines, s.Accent.Render(promptSymbol)+s.Muted.Render(ansi.Truncate(placeholder, e.textWidth(), "…")))
	}
	for i, l := range e.draft.text.Draw(e.textWidth(), e.top, e.top+tall, e.marks()) {
		lines = append(lines, e.rowPrefix(e.top+i)+l)
	}
	return lines
}

// head returns the lines above the text.
func (e *Editor) head() []string {
	lines := append(e.listsView(e.width), e.complete.View(e.width)...)
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, e.width, "…")
	}
	if over := len(lines) - e.limit + 1; e.limit > 0 && over > 0 {
		lines = lines[over:] // keep the lines next to the text
	}
	return lines
}

// rowPrefix returns what precedes a row: the prompt symbol before the first one.
func (e *Editor) rowPrefix(row int) string {
	s := e.shared.Styles
	switch {
	case row > 0:
		return strings.Repeat(" ", margin)
	case e.draft.text.StartsWith("!"):
		return s.Warn.Render(promptSymbol)
	default:
		return s.Accent.Render(promptSymbol)
	}
}

// scroll keeps the cursor visible.
func (e *Editor) scroll(shown, rows int) {
	_, y := e.draft.text.Cursor(e.textWidth())
	e.top = min(max(e.top, y-shown+1), y)
	e.top = max(0, min(e.top, rows-shown))
}

// marks returns the styles of parts of the text.
func (e *Editor) marks() []textinput.Mark {
	s := e.shared.Styles
	b := e.draft.text
	var marks []textinput.Mark
	mark := func(r textinput.Range) { marks = append(marks, textinput.Mark{Range: r, Style: s.Accent}) }
	for _, r := range b.Mentions() {
		mark(r)
	}
	if b.StartsWith("!") {
		marks = append(marks, textinput.Mark{Range: textinput.Range{From: 0, To: 1}, Style: s.Warn})
	}
	if r := b.FirstWord(); b.StartsWith("/") && completion.IsName(b.Slice(1, r.To)) {
		mark(r)
	}
	for _, r := range b.Folds() {
		marks = append(marks, textinput.Mark{Range: r, Style: s.User})
	}
	if from, to := b.Selected(); from < to {
		marks = append(marks, textinput.Mark{Range: textinput.Range{From: from, To: to}, Style: s.Selected})
	}
	return marks
}

// Cursor returns the cursor's position within the view, or nil if the text does not
// have the focus.
func (e *Editor) Cursor() *tea.Cursor {
	if e.lists.focus {
		return nil
	}
	x, y := e.draft.text.Cursor(e.textWidth())
	return tea.NewCursor(margin+x, len(e.head())+y-e.top)
}

// mouse moves the cursor and selects text.
func (e *Editor) mouse(m tea.MouseMsg) tea.Cmd {
	at := m.Mouse()
	head := len(e.head())
	y := at.Y - e.y - head
	inside := y >= 0 && y < min(e.maxTextRows(head), len(e.draft.text.Rows(e.textWidth())))
	switch m.(type) {
	case tea.MouseClickMsg:
		if e.dragging = inside && at.Button == tea.MouseLeft; e.dragging {
			e.lists.focus = false
			e.draft.text.Click(at.X-margin, y+e.top, e.textWidth(), false)
		}
	case tea.MouseMotionMsg:
		if e.dragging {
			e.draft.text.Click(at.X-margin, y+e.top, e.textWidth(), true)
		}
	case tea.MouseReleaseMsg:
		if from, to := e.draft.text.Selected(); e.dragging && from < to {
			e.dragging = false
			return tea.SetClipboard(e.draft.text.Slice(from, to))
		}
		e.dragging = false
	}
	return nil
}
