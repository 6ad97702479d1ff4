// Package editor is where prompts are written.
package editor

import (
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/keys"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// maxRows is how tall the editor grows.
const maxRows = 10

// Submit is a prompt that was written.
type Submit struct {
	Parts    pawl.Parts
	Delivery pawl.Delivery // while a turn is open
}

// Editor is a text of several lines.
type Editor struct {
	shared *ui.Shared
	area   textarea.Model
	width  int
}

// New returns an empty editor.
func New(s *ui.Shared) *Editor {
	area := textarea.New()
	area.Prompt, area.ShowLineNumbers, area.CharLimit = "", false, 0
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, maxRows
	area.Placeholder = "What is to be done?"
	area.SetVirtualCursor(false)
	area.Focus()
	return &Editor{shared: s, area: area}
}

// Resize gives the editor its width.
func (e *Editor) Resize(width int) {
	e.width = width
	e.area.SetWidth(max(1, width-2))
}

// Height is how many lines it takes.
func (e *Editor) Height() int { return e.area.Height() }

// Empty reports whether nothing is written.
func (e *Editor) Empty() bool { return e.area.Value() == "" }

// SetText replaces what is written.
func (e *Editor) SetText(text string) {
	e.area.SetValue(text)
	e.area.MoveToEnd()
}

// Update takes a message.
func (e *Editor) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch e.shared.Keys.Action(keys.Editor, k.String()) {
		case keys.Send:
			return e.submit(pawl.DeliverSteer)
		case keys.Queue:
			return e.submit(pawl.DeliverQueue)
		case keys.Newline:
			e.area.InsertRune('\n')
			return nil
		default:
		}
	}
	var cmd tea.Cmd
	e.area, cmd = e.area.Update(msg)
	return cmd
}

func (e *Editor) submit(d pawl.Delivery) tea.Cmd {
	text := e.area.Value()
	if text == "" {
		return nil
	}
	e.area.Reset()
	return ui.Show(Submit{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: d})
}

// View draws it.
func (e *Editor) View() string { return e.area.View() }

// Cursor is where the cursor is, within the view.
func (e *Editor) Cursor() *tea.Cursor { return e.area.Cursor() }
