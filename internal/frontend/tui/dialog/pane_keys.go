package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Key scrolls the text, if the key is bound to that. Line keys count only if byLine is
// set.
func (p *Pane) Key(m *keys.Map, name string, byLine bool) bool {
	switch m.Action(keys.Global, name) {
	case keys.PageUp:
		p.scroll(-p.page())
		return true
	case keys.PageDown:
		p.scroll(p.page())
		return true
	case keys.ScrollUp:
		p.scroll(-1)
		return true
	case keys.ScrollDown:
		p.scroll(1)
		return true
	case keys.Top:
		p.scroll(-len(p.lines))
		return true
	case keys.Bottom:
		p.scroll(len(p.lines))
		return true
	default:
	}
	return byLine && p.lineKey(m, name)
}

// edgeKey scrolls by a page, or to an end.
func (p *Pane) edgeKey(name string) bool {
	switch name {
	case "space":
		p.scroll(p.page())
	case "home":
		p.scroll(-len(p.lines))
	case "end":
		p.scroll(len(p.lines))
	default:
		return false
	}
	return true
}

func (p *Pane) lineKey(m *keys.Map, name string) bool {
	switch m.Action(keys.Dialog, name) {
	case keys.Up:
		p.scroll(-1)
		return true
	case keys.Down:
		p.scroll(1)
		return true
	default:
	}
	return p.edgeKey(name)
}

// More says how much is below the visible lines.
func (p *Pane) More(s *ui.Shared) string {
	n := p.below()
	if n == 0 {
		return ""
	}
	text := "↓ " + humanize.Plural(n, "more line")
	return s.Styles.Warn.Render(text) + s.Styles.Muted.Render(" · "+s.Keys.Key(keys.PageDown))
}

// Wheel scrolls by the mouse wheel.
func (p *Pane) Wheel(m tea.MouseWheelMsg) {
	switch m.Button {
	case tea.MouseWheelUp:
		p.scroll(-3)
	case tea.MouseWheelDown:
		p.scroll(3)
	default:
	}
}
