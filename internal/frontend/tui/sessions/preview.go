package sessions

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
)

// maxPreviews is how many previews are kept.
const maxPreviews = 30

// preview is the preview of the selected session.
type preview struct {
	loading pawl.SessionID // "" means none
}

// lookedMsg is the end of a session.
type lookedMsg struct {
	session pawl.Session
	events  []pawl.Event
	err     error
}

// loadPreview reads the end of the selected session, if there is space for the preview. One
// is read at a time.
func (d *Dialog) loadPreview() tea.Cmd {
	s, ok := d.session()
	if !ok || d.narrow || d.preview.loading != "" || d.kept(s) {
		return nil
	}
	d.preview.loading = s.ID
	svc, ctx := d.shared.Service, d.shared.Context
	return func() tea.Msg {
		events, err := tail(ctx, svc, s)
		return lookedMsg{s, events, err}
	}
}

// kept reports whether the preview of a session is current.
func (d *Dialog) kept(s pawl.Session) bool {
	v := d.views[s.ID]
	return v != nil && v.Log.Last() >= s.Head
}

// looked stores a preview, and reads the next if the selection has moved. The preview
// of an unreadable session is empty: opening it shows the error.
func (d *Dialog) looked(m lookedMsg) tea.Cmd {
	d.preview.loading = ""
	log := chat.NewLog()
	log.Read(m.events)
	if len(d.views) >= maxPreviews {
		clear(d.views)
	}
	d.views[m.session.ID] = chat.NewView(log, d.shared.Styles)
	if s, ok := d.session(); ok && s.ID != m.session.ID {
		return d.loadPreview()
	}
	return nil
}

// previewLines returns the last lines of the selected session.
func (d *Dialog) previewLines(width, height int) []string {
	s, ok := d.session()
	v := d.views[s.ID]
	if !ok || v == nil {
		return make([]string, height)
	}
	v.Resize(width, height)
	return v.Render()
}
