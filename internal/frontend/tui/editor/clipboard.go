package editor

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/clipboard"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// imageMsg is an image from the clipboard.
type imageMsg struct{ attachment *Attachment }

// clipboard reads the clipboard: it attaches an image or pastes a text.
func (e *Editor) clipboard() tea.Cmd {
	ctx, env := e.shared.Context, e.env
	return func() tea.Msg {
		c, err := clipboard.Read(ctx, env)
		switch {
		case err != nil:
			return ui.Failed{Err: err}
		case c.PNG != nil:
			return imageMsg{&Attachment{Name: "clipboard.png", Kind: "image/png", Size: int64(len(c.PNG)), data: c.PNG}}
		}
		return tea.PasteMsg{Content: c.Text}
	}
}
