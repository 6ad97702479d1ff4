// Package editor is where prompts are written.
//
// A paste is literal: nothing in it is a command, a mention or an order, whatever
// it looks like. Only what the person typed is, or chose where it was offered.
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

// maxRows is how tall the editor grows.
const maxRows = 10

// sign is what stands before the first row, and margin how many cells it takes.
const (
	promptSymbol = "› "
	margin       = 2
)

// Editor is a text of several lines, and what goes with it.
type Editor struct {
	shared   *ui.Shared
	complete *completion.Complete
	recall   recall
	env      func(string) string // the environment

	number    int // of what was sent last
	draft     draft
	session   pawl.SessionID
	drafts    map[pawl.SessionID]draft // of sessions that are not shown
	lists     aboveLists
	dismissed completion.Kind // what is not offered again until something else is written

	width    int
	limit    int // how tall it may be; 0 means as it likes
	y        int // where it is on the screen
	top      int // the first row that is shown
	dragging bool
}

// draft is what is written and not yet sent.
type draft struct {
	text   *textinput.Buffer
	files  []*Attachment
	reword pawl.Seq   // the prompt that waits and gets these words
	kept   pawl.Parts // of that prompt, besides the words
	saved  []textinput.Piece
}

func newDraft() draft { return draft{text: &textinput.Buffer{}} }

func (d draft) empty() bool { return d.text.Len() == 0 && len(d.files) == 0 && d.reword == 0 }

// New returns an empty editor. Without a store, prompts are not kept.
func New(s *ui.Shared, store history.Store) *Editor {
	return &Editor{
		shared: s, complete: completion.New(s), recall: recall{store: store}, env: os.Getenv,
		draft: newDraft(), drafts: map[pawl.SessionID]draft{},
	}
}

// Init reads what was sent before, and what the directory has.
func (e *Editor) Init() tea.Cmd { return tea.Batch(e.recall.load(), e.complete.Look(e.shared.Dir)) }

// Directory is what is known of the directory that is worked in.
func (e *Editor) Project() (pawl.Project, bool) { return e.complete.Folder() }

// Switch shows what is written for another session, and keeps what was written
// for the last one.
func (e *Editor) Switch(id pawl.SessionID, dir string) tea.Cmd {
	if id == e.session {
		return e.complete.Look(dir)
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
	return e.complete.Look(dir)
}

// Become says that the new session that is written for has got its ID.
func (e *Editor) SetSession(id pawl.SessionID) { e.session = id }

// Resize gives the editor its width.
func (e *Editor) SetWidth(width int) { e.width = width }

// Limit says how many lines it may take.
func (e *Editor) SetMaxHeight(height int) { e.limit = max(1, height) }

// tall is how many rows of text are shown.
func (e *Editor) maxTextRows(head int) int {
	if e.limit == 0 {
		return maxRows
	}
	return max(1, min(maxRows, e.limit-head))
}

// Place says at which row of the screen the editor begins.
func (e *Editor) SetTop(y int) { e.y = y }

// cells is how wide the text is; the cursor may stand behind it.
func (e *Editor) textWidth() int { return max(1, e.width-margin-1) }

// Height is how many lines it takes.
func (e *Editor) Height() int { return len(e.lines()) }

// Empty reports whether nothing is written.
func (e *Editor) Empty() bool { return e.draft.empty() }

// Text is what is written.
func (e *Editor) Text() string { return e.draft.text.String() }

// SetText replaces what is written. It is a text that was written before: it
// counts as typed.
func (e *Editor) SetText(s string) {
	e.draft.text.Set([]textinput.Piece{{Text: s}})
	e.complete.Close()
}

// Return gives the words of a prompt back that was taken in before. It returns
// false if something else is written. The words count as pasted: files' texts may
// be among them.
func (e *Editor) Restore(parts pawl.Parts) bool {
	if !e.draft.empty() {
		return false
	}
	e.draft.text.Set([]textinput.Piece{{Text: parts.Text(), Pasted: true}})
	e.complete.Close()
	return true
}

// Update takes a message.
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

// picked takes what was chosen in a list that the editor opened.
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

// Palette is a command that opens the list of all commands.
func (e *Editor) Palette() tea.Cmd {
	folder, _ := e.complete.Folder()
	return ui.Send(ui.Open{Dialog: completion.NewPalette(e.shared, folder)})
}

// command does what was chosen in the palette: one that is complete runs, another
// is written, before what is written already.
func (e *Editor) command(name string) tea.Cmd {
	if c, ok := completion.Find(name); ok && !completion.NeedsArguments(c.Arguments) {
		return e.run(completion.Run{Name: name})
	}
	e.draft.text.Move(0, false)
	e.draft.text.Type("/" + name + " ")
	e.draft.text.Move(e.draft.text.Len(), false)
	return nil
}

// run does what is the editor's own, and leaves the rest to others.
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

// clear takes out what is written and attached.
func (e *Editor) clear() {
	e.draft.text.Clear()
	e.draft.files = nil
	e.endReword()
	e.complete.Close()
	e.lists.focus = false
}
