package chat

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// SecondMsg is a tick of a view's clock.
type SecondMsg struct {
	view *View
	at   time.Time
}

// Clock returns a command that updates elapsed times while a call runs or a retry is
// pending. It is nil if nothing is, or if the clock runs already.
func (v *View) Clock() tea.Cmd {
	if v.ticking || !v.needsClock() {
		return nil
	}
	v.now = time.Now()
	return v.nextTick()
}

// nextTick returns the next tick.
func (v *View) nextTick() tea.Cmd {
	v.ticking = true
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return SecondMsg{v, at} })
}

func (v *View) needsClock() bool { return len(v.Log.running) > 0 || v.Log.retry != nil }

// Update handles a message: a tick, the mouse, or a key while searching.
func (v *View) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case SecondMsg:
		if m.view == v {
			if v.tick(m.at); v.needsClock() {
				return v.nextTick()
			}
		}
	case tea.MouseClickMsg:
		v.mousePress(m)
	case tea.MouseMotionMsg:
		v.mouseDrag(m)
	case tea.MouseReleaseMsg:
		if text := v.mouseRelease(m); text != "" {
			return tea.Batch(tea.SetClipboard(text), ui.Send(ui.Notice{Text: "Copied"}))
		}
	case tea.KeyPressMsg:
		v.findKey(m)
	case tea.PasteMsg:
		v.findPaste(m.Content)
	}
	return nil
}

// tick updates the elapsed times.
func (v *View) tick(at time.Time) {
	v.now, v.ticking = at, false
	for _, e := range v.Log.running {
		e.changed()
	}
	if e := v.Log.retry; e != nil {
		e.changed()
	}
}
