package editor

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Waiting are the prompts of a session that wait for the model to read them.
type Waiting struct {
	Session pawl.SessionID
	List    []pawl.Waiting
}

// Withdraw asks the app to withdraw a waiting prompt.
type Withdraw struct{ Prompt pawl.Seq }

// maxWaiting is how many waiting prompts are shown while the list does not have the
// focus.
const maxWaiting = 3

// aboveLists are the lists above the text: attachments and waiting prompts.
type aboveLists struct {
	waiting []pawl.Waiting
	focus   bool // keys go to the lists
	at      int
}

// setWaiting shows the waiting prompts.
func (e *Editor) setWaiting(m Waiting) {
	if m.Session != e.session {
		return
	}
	e.lists.waiting = m.List
	e.clampLists()
}

// clampLists keeps the selection in range.
func (e *Editor) clampLists() {
	n := len(e.draft.files) + len(e.lists.waiting)
	e.lists.at = max(0, min(e.lists.at, n-1))
	e.lists.focus = e.lists.focus && n > 0
}

func (e *Editor) focusLists() {
	e.complete.Close()
	e.lists.focus, e.lists.at = true, len(e.draft.files)+len(e.lists.waiting)-1
	e.clampLists()
}

// listsKey handles a key for the lists.
func (e *Editor) listsKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	n := len(e.draft.files) + len(e.lists.waiting)
	action := e.shared.Keys.Action(keys.Editor, k.String())
	switch {
	case k.String() == "esc" || action == keys.Next && e.lists.at == n-1:
		e.lists.focus = false
	case action == keys.Previous || action == keys.Above:
		e.lists.at = max(0, e.lists.at-1)
	case action == keys.Next:
		e.lists.at++
	case k.String() == "backspace" || k.String() == "delete":
		return e.removeSelected(), true
	case action == keys.Send:
		return e.editSelected(), true
	case k.Text != "":
		e.lists.focus = false // it is typed into the text
		return nil, false
	default:
		return nil, false
	}
	return nil, true
}

// removeSelected removes the selected attachment or withdraws the selected prompt.
func (e *Editor) removeSelected() tea.Cmd {
	i := e.lists.at
	if i < len(e.draft.files) {
		e.draft.files = slices.Delete(slices.Clone(e.draft.files), i, i+1)
		e.clampLists()
		return nil
	}
	w := e.lists.waiting[i-len(e.draft.files)]
	return ui.Send(Withdraw{w.Seq})
}

// editSelected loads the selected waiting prompt into the editor; the current draft is
// saved until then. The text counts as pasted, because it may contain the text of
// files.
func (e *Editor) editSelected() tea.Cmd {
	i := e.lists.at - len(e.draft.files)
	if i < 0 {
		return nil
	}
	w := e.lists.waiting[i]
	if e.draft.reword == 0 {
		e.draft.saved = e.draft.text.Pieces()
	}
	e.draft.reword, e.draft.kept = w.Seq, nil
	for _, p := range w.Prompt.Parts {
		if _, ok := p.(pawl.Text); !ok {
			e.draft.kept = append(e.draft.kept, p)
		}
	}
	e.draft.text.Set([]textinput.Piece{{Text: w.Prompt.Parts.Text(), Pasted: true}})
	e.lists.focus = false
	return nil
}

// endReword stops editing a waiting prompt, and restores the draft.
func (e *Editor) endReword() {
	if e.draft.reword == 0 {
		return
	}
	e.draft.text.Set(e.draft.saved)
	e.draft.reword, e.draft.kept, e.draft.saved = 0, nil, nil
}

// listsView draws the lists.
func (e *Editor) listsView(width int) []string {
	s := e.shared.Styles
	var lines []string
	line := func(i int, mark, text, hint string) {
		l := ansi.Truncate(mark+" "+text, max(0, width-1), "…")
		if e.lists.focus && i == e.lists.at {
			lines = append(lines, s.Selected.Render(ansi.Truncate(l+"  "+hint, max(0, width-1), "…")))
			return
		}
		lines = append(lines, s.Muted.Render(l))
	}
	for i, f := range e.draft.files {
		line(i, "+", f.label(width-20), "backspace: remove")
	}
	first, last := 0, len(e.lists.waiting)
	if !e.lists.focus {
		first = max(0, last-maxWaiting)
	}
	if first > 0 {
		lines = append(lines, s.Muted.Render(fmt.Sprintf("… %d more waiting", first)))
	}
	for i, w := range e.lists.waiting[first:] {
		text := sanitize.Line(w.Prompt.Parts.Text())
		if w.Seq == e.draft.reword {
			text = "(editing) " + text
		}
		line(len(e.draft.files)+first+i, deliveryLabel(w.Prompt.Delivery), text, "enter: edit, backspace: withdraw")
	}
	if e.draft.reword != 0 {
		lines = append(lines, s.Accent.Render(ansi.Truncate("editing a waiting prompt · enter: save, esc: cancel", max(0, width-1), "…")))
	}
	return lines
}

func deliveryLabel(d pawl.Delivery) string {
	if d == pawl.DeliverQueue {
		return "queued ·"
	}
	return "steer ·"
}

// label returns the path and size of an attachment, truncated at its left.
func (a *Attachment) label(width int) string {
	name := a.Path
	if name == "" {
		name = a.Name
	}
	name = sanitize.Line(name)
	if over := ansi.StringWidth(name) - max(1, width); over > 0 {
		name = ansi.TruncateLeft(name, over+1, "…")
	}
	return name + "  " + humanize.Bytes(a.Size)
}
