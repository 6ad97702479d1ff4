package dialog

import (
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// maxFieldRows is how tall a field grows, maxField how much fits into it.
const (
	maxFieldRows = 5
	maxField     = 20000
)

// field is where a person writes within a dialog.
type field struct {
	shared *ui.Shared
	label  string
	area   textarea.Model
}

func newField(s *ui.Shared, label, value string) *field {
	area := textarea.New()
	area.Prompt, area.ShowLineNumbers, area.CharLimit = "", false, maxField
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, maxFieldRows
	area.SetWidth(60) // until it is drawn
	plain := textarea.StyleState{Base: lipgloss.NewStyle(), Text: s.Styles.Text}
	area.SetStyles(textarea.Styles{Focused: plain, Blurred: plain}) // a cursor that does not blink: nothing ticks
	area.SetValue(value)
	area.MoveToEnd()
	area.Focus()
	return &field{shared: s, label: label, area: area}
}

// fieldEnd says how writing ended.
type fieldEnd int

const (
	fieldOpen fieldEnd = iota
	fieldDone
	fieldLeft
)

// update takes a key or a paste.
func (f *field) update(msg tea.Msg) (fieldEnd, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch {
		case f.shared.Keys.Action(keys.Editor, k.String()) == keys.Send: // as in a prompt
			return fieldDone, nil
		case f.shared.Keys.Action(keys.Editor, k.String()) == keys.Newline:
			f.area.InsertRune('\n')
			return fieldOpen, nil
		case f.shared.Keys.Action(keys.Dialog, k.String()) == keys.Choose:
			return fieldDone, nil
		case f.shared.Keys.Action(keys.Dialog, k.String()) == keys.Close:
			return fieldLeft, nil
		}
	}
	var cmd tea.Cmd
	f.area, cmd = f.area.Update(msg)
	return fieldOpen, cmd
}

func (f *field) value() string { return strings.TrimSpace(f.area.Value()) }

// view draws it behind its label.
func (f *field) view(width int) []string {
	f.area.SetWidth(max(1, width-2))
	lines := []string{f.shared.Styles.Accent.Render(f.label)}
	for line := range strings.SplitSeq(f.area.View(), "\n") {
		lines = append(lines, f.shared.Styles.Accent.Render("▌")+" "+line)
	}
	return lines
}
