// Package sessions is the list of sessions: titles, states and operations.
//
// The query is sent to the service, which searches all sessions; more pages are read
// as the selection gets near the end.
package sessions

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Open asks the app to open a session.
type Open struct{ ID pawl.SessionID }

// New asks the app to open a new session.
type New struct{}

// Deleted reports that a session was deleted.
type Deleted struct{ ID pawl.SessionID }

// Dialog is the list; see [ui.Dialog].
type Dialog struct {
	shared *ui.Shared
	shown  pawl.SessionID // the open session
	now    func() time.Time

	all     bool // of all directories
	query   string
	rows    []pawl.Session
	used    pawl.Filter // of rows
	cursor  string      // of the page after the last row; "" on the last page
	at, top int
	listed  int // visible rows, as drawn last
	tallest int // the most rows so far, so that the window keeps its size while searching
	area    area
	loading bool
	stale   bool                      // the result that is being read is outdated
	loaded  search                    // the query of rows
	held    map[pawl.SessionID]string // who works on them, as far as reported

	renaming *string // the title that is edited
	fault    error

	narrow  bool // there is no space for the preview
	preview preview
	views   map[pawl.SessionID]*chat.View
}

// search is a query.
type search struct {
	query string
	all   bool
}

var _ ui.Dialog = (*Dialog)(nil)

// NewDialog returns the list; shown is the open session.
func NewDialog(s *ui.Shared, shown pawl.SessionID) *Dialog {
	return &Dialog{
		shared: s, shown: shown, now: time.Now, views: map[pawl.SessionID]*chat.View{},
		held: map[pawl.SessionID]string{},
	}
}

// Shown reads the list, also when a dialog above it was closed.
func (d *Dialog) Shown() tea.Cmd {
	d.loading, d.preview.loading = false, ""
	return d.load()
}

// Update handles a message.
func (d *Dialog) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case foundMsg:
		return d, d.found(m)
	case lookedMsg:
		return d, d.looked(m)
	case doneMsg:
		return d.done(m)
	case tea.WindowSizeMsg: // there may be space for the preview now; View decides
		d.narrow = false
		return d, d.loadPreview()
	case tea.PasteMsg:
		return d, d.paste(m.Content)
	case tea.MouseWheelMsg:
		return d, d.wheel(m)
	case tea.MouseClickMsg:
		return d.clicked(m)
	case tea.KeyPressMsg:
		d.fault = nil
		if d.renaming != nil {
			return d, d.renameKey(m)
		}
		return d.key(m)
	}
	return d, nil
}

// key handles a key in the list.
func (d *Dialog) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd) {
	name := k.String()
	switch d.shared.Keys.Action(keys.InSessions, name) {
	case keys.SessionNew:
		return nil, ui.Send(New{})
	case keys.SessionRename:
		d.rename()
		return d, nil
	case keys.SessionFork:
		return d, d.fork()
	case keys.SessionDelete:
		return d, d.sure()
	case keys.SessionProjects:
		d.all = !d.all
		return d, d.load()
	default:
	}
	switch d.shared.Keys.Action(keys.Dialog, name) {
	case keys.Choose:
		return d.choose()
	case keys.Close:
		return nil, nil
	case keys.Up:
		return d, d.move(-1)
	case keys.Down:
		return d, d.move(1)
	default:
		return d, d.other(k)
	}
}

// choose opens the selected session.
func (d *Dialog) choose() (ui.Dialog, tea.Cmd) {
	if s, ok := d.session(); ok {
		return nil, ui.Send(Open{s.ID})
	}
	return d, nil
}

func (d *Dialog) clicked(m tea.MouseClickMsg) (ui.Dialog, tea.Cmd) {
	switch {
	case d.renaming != nil:
		return d, nil
	case d.click(m):
		return d.choose()
	default:
		return d, d.move(0)
	}
}

// other handles keys that move by pages or edit the query.
func (d *Dialog) other(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "pgup":
		return d.move(-max(1, d.listed-1))
	case "pgdown":
		return d.move(max(1, d.listed-1))
	case "home":
		return d.move(-len(d.rows))
	case "end":
		return d.move(len(d.rows))
	}
	if text := textinput.LineKey(d.query, k); text != d.query {
		d.query = text
		return d.load()
	}
	return nil
}

func (d *Dialog) wheel(m tea.MouseWheelMsg) tea.Cmd {
	switch m.Button {
	case tea.MouseWheelUp:
		return d.move(-3)
	case tea.MouseWheelDown:
		return d.move(3)
	default:
		return nil
	}
}

func (d *Dialog) paste(text string) tea.Cmd {
	if d.renaming != nil {
		*d.renaming = textinput.LinePaste(*d.renaming, text)
		return nil
	}
	d.query = textinput.LinePaste(d.query, text)
	return d.load()
}

// session returns the selected session.
func (d *Dialog) session() (pawl.Session, bool) {
	if d.at >= len(d.rows) {
		return pawl.Session{}, false
	}
	return d.rows[d.at], true
}

// move moves the selection, and reads more near the end.
func (d *Dialog) move(by int) tea.Cmd {
	d.at = max(0, min(d.at+by, len(d.rows)-1))
	if d.cursor != "" && !d.loading && d.at >= len(d.rows)-prefetchRows {
		return tea.Batch(d.next(), d.loadPreview())
	}
	return d.loadPreview()
}
