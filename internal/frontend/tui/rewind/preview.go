package rewind

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// pause is how long a message must be selected before its plan is made, which reads
// all files.
const pause = 150 * time.Millisecond

// maxPreviews bounds the plans that are kept.
const maxPreviews = 60

// preview is the plan of an undo, or the error that prevented it.
type preview struct {
	plan pawl.UndoPlan
	err  error
}

// restedMsg ends the pause.
type restedMsg struct {
	dialog *Dialog
	round  int
}

// previewMsg is a plan that was made.
type previewMsg struct {
	dialog *Dialog
	order  pawl.Undo
	preview
}

// order returns the undo for the selection. It returns false if nothing is selected.
func (d *Dialog) order() (pawl.Undo, bool) {
	switch d.kind {
	case Undo:
		return pawl.Undo{Scope: d.scope}, true
	case Redo:
		return pawl.Undo{Redo: pawl.LastUndo}, true
	case Fork:
		return pawl.Undo{}, false
	default:
		m, ok := d.message()
		return pawl.Undo{To: m.Seq, Scope: d.scope}, ok
	}
}

// selectedPreview returns the plan for the selection, or nil while it is made.
func (d *Dialog) selectedPreview() *preview {
	order, ok := d.order()
	if !ok {
		return nil
	}
	return d.previews[order]
}

// preview makes the plan for the selection after a pause, unless it is known.
func (d *Dialog) preview(pause time.Duration) tea.Cmd {
	d.round++
	d.stop()
	if _, ok := d.order(); !ok || d.selectedPreview() != nil {
		return nil
	}
	msg := restedMsg{d, d.round}
	if pause == 0 {
		return d.rested(msg)
	}
	return tea.Tick(pause, func(time.Time) tea.Msg { return msg })
}

// stop cancels the plan that is being made.
func (d *Dialog) stop() {
	if d.cancel != nil {
		d.cancel()
		d.cancel = nil
	}
}

// rested makes the plan.
func (d *Dialog) rested(m restedMsg) tea.Cmd {
	order, ok := d.order()
	if m.round != d.round || !ok {
		return nil
	}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(d.shared.Context)
	svc, id := d.shared.Service, d.session
	return func() tea.Msg {
		plan, err := svc.Preview(ctx, id, order)
		if ctx.Err() != nil {
			return nil
		}
		return previewMsg{d, order, preview{plan, err}}
	}
}

// take stores a plan.
func (d *Dialog) take(m previewMsg) {
	if d.previews == nil || len(d.previews) >= maxPreviews {
		d.previews = map[pawl.Undo]*preview{}
	}
	d.previews[m.order] = &m.preview
	d.pane.Renew()
}

// nothing reports whether there is nothing to undo or redo.
func (d *Dialog) nothing(m previewMsg) bool {
	return (d.kind == Undo || d.kind == Redo) && errors.Is(m.err, pawl.ErrNotFound)
}
