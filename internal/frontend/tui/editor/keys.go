package editor

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Handles reports whether the editor handles a key that has another meaning elsewhere:
// while a completion is open, or a list above the text has the focus.
func (e *Editor) Handles(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "esc":
		return e.complete.Open() || e.lists.focus || e.draft.reword != 0
	case "tab":
		return true
	default:
		return e.shared.Keys.Action(keys.Editor, k.String()) != ""
	}
}

// key handles a key press.
func (e *Editor) key(k tea.KeyPressMsg) tea.Cmd {
	if e.lists.focus {
		if cmd, taken := e.listsKey(k); taken {
			return cmd
		}
	}
	if e.complete.Open() {
		if cmd, taken := e.completionKey(k); taken {
			return cmd
		}
	}
	if cmd, taken := e.action(k); taken {
		return cmd
	}
	return e.editKey(k)
}

// completionKey handles a key for the open completion.
func (e *Editor) completionKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	action := e.shared.Keys.Action(keys.Editor, k.String())
	_, chosen := e.complete.Choice()
	switch {
	case k.String() == "esc":
		e.dismissed = e.complete.Kind()
		e.complete.Close()
	case action == keys.Previous && chosen:
		e.complete.Move(-1)
	case action == keys.Next && chosen:
		e.complete.Move(1)
	case k.String() == "tab" && chosen:
		return e.acceptCompletion(), true
	case action == keys.Send && chosen:
		if cmd, done := e.runChoice(); done {
			return cmd, true
		}
		return e.acceptCompletion(), true
	default:
		return nil, false
	}
	return nil, true
}

// acceptCompletion inserts the selected completion.
func (e *Editor) acceptCompletion() tea.Cmd {
	c, _ := e.complete.Choice()
	b := e.draft.text
	at := textinput.Range{From: 0, To: b.At()}
	if e.complete.Kind() == completion.Mentions {
		_, at, _ = b.Mention()
	}
	text := c.Text
	if !c.Needs || e.complete.Kind() == completion.Commands {
		text += " "
	}
	b.Put(at, text)
	e.complete.Close()
	return e.refreshCompletion()
}

// runChoice runs the selected command if it needs no arguments.
func (e *Editor) runChoice() (tea.Cmd, bool) {
	c, _ := e.complete.Choice()
	b := e.draft.text
	if e.complete.Kind() != completion.Commands || c.Needs || b.At() != b.Len() {
		return nil, false
	}
	b.Put(textinput.Range{From: 0, To: b.Len()}, c.Text)
	e.complete.Close()
	return e.submit(pawl.DeliverSteer), true
}

// action runs the action that a key is bound to.
func (e *Editor) action(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch e.shared.Keys.Action(keys.Editor, k.String()) {
	case keys.Send:
		return e.submit(pawl.DeliverSteer), true
	case keys.Queue:
		return e.submit(pawl.DeliverQueue), true
	case keys.Newline:
		e.draft.text.Type("\n")
		return e.refreshCompletion(), true
	case keys.EditOutside:
		return e.openExternal(), true
	case keys.Previous:
		return e.vertical(-1), true
	case keys.Next:
		return e.vertical(1), true
	case keys.Undo:
		e.draft.text.Undo()
		return e.refreshOpenCompletion(), true
	case keys.Redo:
		e.draft.text.Redo()
		return e.refreshOpenCompletion(), true
	case keys.Paste:
		return e.clipboard(), true
	case keys.SearchPrompts:
		return e.recall.search(e.shared), true
	case keys.Above:
		e.focusLists()
		return nil, true
	default:
		return nil, false
	}
}

// vertical moves a row up or down, or at the edges to another prompt of the history.
func (e *Editor) vertical(by int) tea.Cmd {
	if e.draft.text.Vertical(by, e.textWidth(), false) {
		return e.refreshOpenCompletion()
	}
	e.recall.step(by, e.draft.text)
	e.complete.Close()
	return nil
}

// editKey handles the editing keys.
func (e *Editor) editKey(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "ctrl+c", "ctrl+x":
		return e.copy(name == "ctrl+x")
	case "esc":
		e.endReword()
		return nil
	case "tab":
		return e.tab()
	}
	switch e.draft.text.Key(k) {
	case textinput.Moved:
		return e.refreshOpenCompletion()
	case textinput.Edited:
		return e.refreshCompletion()
	case textinput.Ignored, textinput.Selected:
	}
	return nil
}

// copy copies the selection; cut deletes it too. Without a selection, copy clears the
// prompt, as Ctrl-C does in a shell.
func (e *Editor) copy(cut bool) tea.Cmd {
	b := e.draft.text
	from, to := b.Selected()
	if from == to {
		if e.Empty() {
			return ui.Send(ui.Notice{Text: "Press " + e.shared.Keys.Key(keys.Quit) + " to quit"})
		}
		if !cut {
			e.clear()
		}
		return nil
	}
	text := b.Slice(from, to)
	if cut {
		b.Kill(from, to)
	}
	return tea.SetClipboard(text)
}

// tab confirms pasted text: a pasted @name becomes a mention, a folded paste is
// expanded.
func (e *Editor) tab() tea.Cmd {
	if word, ok := e.draft.text.Confirm(); ok {
		return ui.Send(ui.Notice{Text: "Mentioned " + word})
	}
	e.draft.text.Unfold()
	return nil
}

// refreshCompletion opens or updates the completion for the text at the cursor.
func (e *Editor) refreshCompletion() tea.Cmd {
	kind, query := e.completionKind()
	if kind == completion.None || kind != e.dismissed {
		e.dismissed = completion.None
	}
	if kind == e.dismissed {
		kind = completion.None
	}
	return e.complete.Ask(kind, query)
}

// refreshOpenCompletion updates the completion if it is open.
func (e *Editor) refreshOpenCompletion() tea.Cmd {
	if !e.complete.Open() {
		return nil
	}
	return e.refreshCompletion()
}

// completionKind returns what can be completed at the cursor, and the query.
func (e *Editor) completionKind() (completion.Kind, string) {
	b := e.draft.text
	if b.StartsWith("/") && b.At() > 0 {
		if name := b.Slice(1, b.At()); name == "" || completion.IsName(name) {
			return completion.Commands, name
		}
	}
	if query, _, ok := b.Mention(); ok {
		return completion.Mentions, query
	}
	return completion.None, ""
}
