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
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Waiting are the prompts of a session that wait to be taken in.
type Waiting struct {
	Session pawl.SessionID
	List    []pawl.Waiting
}

// Withdraw orders a prompt that waits to be taken back.
type Withdraw struct{ Prompt pawl.Seq }

// maxWaiting is how many prompts that wait are shown, unless they are looked at.
const maxWaiting = 3

// above are the lists above the text: what is attached, and what waits.
type aboveLists struct {
	waiting []pawl.Waiting
	focus   bool // keys are for them
	at      int
}

// wait shows the prompts that wait.
func (e *Editor) setWaiting(m Waiting) {
	if m.Session != e.session {
		return
	}
	e.lists.waiting = m.List
	e.clampLists()
}

// keepAbove keeps the bar on something.
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

// aboveKey takes a key for the lists.
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
		e.lists.focus = false // it is written
		return nil, false
	default:
		return nil, false
	}
	return nil, true
}

// removeAbove takes away what the bar is on.
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

// editAbove brings the words of a prompt that waits into the editor. What is
// written there comes back afterwards. The words count as pasted: files' texts may
// be among them.
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

// endReword gives up rewording, and brings back what was written before.
func (e *Editor) endReword() {
	if e.draft.reword == 0 {
		return
	}
	e.draft.text.Set(e.draft.saved)
	e.draft.reword, e.draft.kept, e.draft.saved = 0, nil, nil
}

// aboveView draws the lists.
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
		line(i, "+", f.label(width-20), "backspace removes")
	}
	first, last := 0, len(e.lists.waiting)
	if !e.lists.focus {
		first = max(0, last-maxWaiting)
	}
	if first > 0 {
		lines = append(lines, s.Muted.Render(fmt.Sprintf("… %d more wait", first)))
	}
	for i, w := range e.lists.waiting[first:] {
		text := sanitize.Line(w.Prompt.Parts.Text())
		if w.Seq == e.draft.reword {
			text = "(being edited) " + text
		}
		line(len(e.draft.files)+first+i, deliveryLabel(w.Prompt.Delivery), text, "enter edits, backspace takes it back")
	}
	if e.draft.reword != 0 {
		lines = append(lines, s.Accent.Render(ansi.Truncate("editing a prompt that waits: enter keeps it, esc gives it up", max(0, width-1), "…")))
	}
	return lines
}

func deliveryLabel(d pawl.Delivery) string {
	if d == pawl.DeliverQueue {
		return "queued ·"
	}
	return "steers ·"
}

// label is what is shown of an attachment: its path, or the end of it.
func (a *Attachment) label(width int) string {
	name := a.Path
	if name == "" {
		name = a.Name
	}
	name = sanitize.Line(name)
	if over := ansi.StringWidth(name) - max(1, width); over > 0 {
		name = ansi.TruncateLeft(name, over+1, "…")
	}
	return name + "  " + size(a.Size)
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
