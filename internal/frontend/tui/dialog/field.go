package dialog

import (
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/clipboard"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// maxFieldRows is how tall a field grows, maxField how many characters it takes.
const (
	maxFieldRows = 5
	maxField     = 20000
)

// field is a text input within a dialog.
type field struct {
	shared *ui.Shared
	label  string
	buf    textinput.Buffer
	width  int // in cells, as it was drawn last
	top    int // the first row that is shown
}

func newField(s *ui.Shared, label, value string) *field {
	f := &field{shared: s, label: label, width: 60}
	f.buf.Set([]textinput.Piece{{Text: value}})
	return f
}

// fieldEnd says how writing ended.
type fieldEnd int

const (
	fieldOpen fieldEnd = iota
	fieldDone
	fieldLeft
)

// update handles a key or a paste.
func (f *field) update(msg tea.Msg) (fieldEnd, tea.Cmd) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return f.key(m)
	case tea.PasteMsg:
		f.paste(m.Content)
	case tea.ClipboardMsg:
		f.paste(m.Content)
	}
	return fieldOpen, nil
}

func (f *field) key(k tea.KeyPressMsg) (fieldEnd, tea.Cmd) {
	action := f.shared.Keys.Action(keys.Editor, k.String())
	switch action {
	case keys.Send: // as in a prompt
		return fieldDone, nil
	case keys.Newline:
		f.buf.Type("\n")
	case keys.Previous:
		f.buf.Vertical(-1, f.width, false)
	case keys.Next:
		f.buf.Vertical(1, f.width, false)
	case keys.Undo:
		f.buf.Undo()
	case keys.Redo:
		f.buf.Redo()
	case keys.Paste:
		return fieldOpen, f.clipboard()
	default:
		return f.otherKey(k), nil
	}
	return fieldOpen, nil
}

// otherKey handles the keys that are not the prompt's.
func (f *field) otherKey(k tea.KeyPressMsg) fieldEnd {
	switch f.shared.Keys.Action(keys.Dialog, k.String()) {
	case keys.Choose:
		return fieldDone
	case keys.Close:
		return fieldLeft
	default:
		if k.Text == "" || f.buf.Len() < maxField {
			f.buf.Key(k)
		}
		return fieldOpen
	}
}

// clipboard pastes the text of the clipboard.
func (f *field) clipboard() tea.Cmd {
	ctx := f.shared.Context
	return func() tea.Msg {
		c, err := clipboard.Read(ctx, os.Getenv)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return tea.PasteMsg{Content: c.Text}
	}
}

// paste inserts a text, as much of it as the field takes.
func (f *field) paste(text string) {
	if runes := []rune(text); len(runes) > maxField-f.buf.Len() {
		text = string(runes[:max(0, maxField-f.buf.Len())])
	}
	f.buf.Paste(text, false)
}

func (f *field) value() string { return strings.TrimSpace(f.buf.String()) }

// view draws the label and the text below it.
func (f *field) view(width int) []string {
	s := f.shared.Styles
	f.width = max(1, width-3) // the bar, and the cursor behind the text
	rows := len(f.buf.Rows(f.width))
	_, y := f.buf.Cursor(f.width)
	f.top = min(max(f.top, y-maxFieldRows+1), y)
	f.top = max(0, min(f.top, rows-maxFieldRows))
	lines := []string{s.Accent.Render(f.label)}
	for i, line := range f.buf.Draw(f.width, f.top, f.top+maxFieldRows, f.marks()) {
		if at := f.buf.At(); f.top+i == y && at == f.buf.Rows(f.width)[y].To {
			line += cursor.Render(" ")
		}
		lines = append(lines, s.Accent.Render("▌")+" "+line)
	}
	return lines
}

// cursor is the style of the character under the cursor.
var cursor = lipgloss.NewStyle().Reverse(true)

func (f *field) marks() []textinput.Mark {
	at := f.buf.At()
	marks := []textinput.Mark{{Range: textinput.Range{From: at, To: at + 1}, Style: cursor}}
	if from, to := f.buf.Selected(); from < to {
		marks = append(marks, textinput.Mark{Range: textinput.Range{From: from, To: to}, Style: f.shared.Styles.Selected})
	}
	return marks
}
