// Package editor is the prompt editor.
//
// A paste is literal: nothing in it is a command or a mention, whatever it looks like.
// Only text that the user typed or chose from a completion is.
package editor

import (
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// maxRows is how many rows of text are shown at most.
const maxRows = 10

// promptSymbol precedes the first row; margin is its width.
const (
	promptSymbol = "› "
	margin       = 2
)

// Editor is a multi-line prompt with attachments, completion and history.
type Editor struct {
	shared   *ui.Shared
	complete *completion.Complete
	recall   recall
	env      func(string) string // looks up environment variables

	number    int // of the last submission
	draft     draft
	session   pawl.SessionID
	drafts    map[pawl.SessionID]draft // of sessions that are not shown
	lists     aboveLists
	dismissed completion.Kind // completion that was closed with esc; it opens again after a different input

	width    int
	limit    int // maximum height; 0 means unlimited
	y        int // position on the screen
	top      int // first visible row
	dragging bool
}

// draft is an unsent prompt.
type draft struct {
	text   *textinput.Buffer
	files  []*Attachment
	reword pawl.Seq   // the waiting prompt that is being edited
	kept   pawl.Parts // its parts that are not text
	saved  []textinput.Piece
}

func newDraft() draft { return draft{text: &textinput.Buffer{}} }

func (d draft) empty() bool { return d.text.Len() == 0 && len(d.files) == 0 && d.reword == 0 }

// New returns an empty editor. A nil store keeps no history.
func New(s *ui.Shared, store history.Store) *Editor {
	return &Editor{
		shared: s, complete: completion.New(s), recall: recall{store: store}, env: os.Getenv,
		draft: newDraft(), drafts: map[pawl.SessionID]draft{},
	}
}

// Init loads the prompt history and the project.
func (e *Editor) Init() tea.Cmd { return tea.Batch(e.recall.load(), e.complete.Load(e.shared.Dir)) }

// Project returns the project of the working directory, and whether it is loaded.
func (e *Editor) Project() (pawl.Project, bool) { return e.complete.Project() }

// Switch shows the draft of another session, and keeps that of the current one.
func (e *Editor) Switch(id pawl.SessionID, dir string) tea.Cmd {
	if id == e.session {
		return e.complete.Load(dir)
	}
	if delete(e.drafts, e.session); !e.draft.empty() {
		e.drafts[e.session] = e.draft
	}
	next, ok := e.drafts[id]
	if !ok {
		next = newDraft()
	}
	e.session, e.draft, e.lists, e.top = id, next, aboveLists{}, 0
	e.recall.reset()
	e.complete.Close()
	return e.complete.Load(dir)
}

// SetSession sets the ID of the session that was created for the draft.
func (e *Editor) SetSession(id pawl.SessionID) { e.session = id }

// SetWidth sets the width.
func (e *Editor) SetWidth(width int) { e.width = width }

// SetMaxHeight limits the height.
func (e *Editor) SetMaxHeight(height int) { e.limit = max(1, height) }

// maxTextRows returns how many rows of text fit.
func (e *Editor) maxTextRows(head int) int {
	if e.limit == 0 {
		return maxRows
	}
	return max(1, min(maxRows, e.limit-head))
}

// SetTop sets the row of the screen where the editor begins.
func (e *Editor) SetTop(y int) { e.y = y }

// textWidth returns the width of the text; the cursor needs one more cell.
func (e *Editor) textWidth() int { return max(1, e.width-margin-1) }

// Height returns the number of lines.
func (e *Editor) Height() int { return len(e.lines()) }

// Empty reports whether there is no text, attachment or edited prompt.
func (e *Editor) Empty() bool { return e.draft.empty() }

// Completing reports whether a completion is open.
func (e *Editor) Completing() bool { return e.complete.Open() }

// Text returns the text.
func (e *Editor) Text() string { return e.draft.text.String() }

// SetText replaces the text. It counts as typed.
func (e *Editor) SetText(s string) {
	e.draft.text.Set([]textinput.Piece{{Text: s}})
	e.complete.Close()
}

// Restore puts the text of an earlier prompt in an empty editor; it returns false if
// the editor is not empty. The text counts as pasted, because it may contain the text
// of files.
func (e *Editor) Restore(parts pawl.Parts) bool {
	if !e.draft.empty() {
		return false
	}
	e.draft.text.Set([]textinput.Piece{{Text: parts.Text(), Pasted: true}})
	e.complete.Close()
	return true
}

// Update handles a message.
func (e *Editor) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return e.key(m)
	case tea.PasteMsg:
		return e.paste(m.Content)
	case tea.ClipboardMsg:
		return e.paste(m.Content)
	case tea.MouseClickMsg, tea.MouseMotionMsg, tea.MouseReleaseMsg:
		return e.mouse(m.(tea.MouseMsg))
	case picker.Chosen:
		return e.picked(m)
	case pathsMsg:
		return e.attachPaths(m)
	case imageMsg:
		return e.attach(m.attachment)
	case externalMsg:
		return e.runExternal(m)
	case externalDoneMsg:
		return e.externalDone(m)
	case loadedMsg:
		return e.recall.loaded(m)
	case Waiting:
		e.setWaiting(m)
	case SendFailed:
		return e.sendFailed(m)
	default:
		return e.complete.Update(msg)
	}
	return nil
}

// picked handles a choice from a list that the editor opened.
func (e *Editor) picked(m picker.Chosen) tea.Cmd {
	switch m.Picker {
	case completion.Palette:
		return e.command(m.ID)
	case recallID:
		if entry, ok := e.recall.entry(m.ID); ok {
			e.draft.text.Set(entry)
		}
	}
	return nil
}

// Palette opens the command palette.
func (e *Editor) Palette() tea.Cmd {
	folder, _ := e.complete.Project()
	return ui.Send(ui.Open{Dialog: completion.NewPalette(e.shared, folder)})
}

// command handles a choice from the palette: a command without arguments runs, others
// are inserted at the beginning of the text.
func (e *Editor) command(name string) tea.Cmd {
	if c, ok := completion.Find(name); ok && !completion.NeedsArguments(c.Arguments) {
		return e.run(completion.Run{Name: name})
	}
	e.draft.text.Move(0, false)
	e.draft.text.Type("/" + name + " ")
	e.draft.text.Move(e.draft.text.Len(), false)
	return nil
}

// run runs the editor's own commands, and passes on the others.
func (e *Editor) run(r completion.Run) tea.Cmd {
	switch r.Name {
	case "editor":
		return e.openExternal()
	case "paste":
		return e.clipboard()
	case "clear":
		e.clear()
		return nil
	default:
		return ui.Send(r)
	}
}

// clear removes text and attachments.
func (e *Editor) clear() {
	e.draft.text.Clear()
	e.draft.files = nil
	e.endReword()
	e.complete.Close()
	e.lists.focus = false
}
