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

// maxLooks bounds the plans that are kept.
const maxLooks = 60

// look is the plan of an undo, or the error that prevented it.
type look struct {
	plan pawl.UndoPlan
	err  error
}

// restedMsg ends the pause.
type restedMsg struct {
	dialog *Dialog
	round  int
}

// lookedMsg is a plan that was made.
type lookedMsg struct {
	dialog *Dialog
	order  pawl.Undo
	look
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

// looked returns the plan for the selection, or nil while it is made.
func (d *Dialog) looked() *look {
	order, ok := d.order()
	if !ok {
		return nil
	}
	return d.looks[order]
}

// look makes the plan for the selection after a pause, unless it is known.
func (d *Dialog) look(pause time.Duration) tea.Cmd {
	d.round++
	d.stop()
	if _, ok := d.order(); !ok || d.looked() != nil {
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
		return lookedMsg{d, order, look{plan, err}}
	}
}

// take stores a plan.
func (d *Dialog) take(m lookedMsg) {
	if d.looks == nil || len(d.looks) >= maxLooks {
		d.looks = map[pawl.Undo]*look{}
	}
	d.looks[m.order] = &m.look
	d.pane.Renew()
}

// nothing reports whether there is nothing to undo or redo.
func (d *Dialog) nothing(m lookedMsg) bool {
	return (d.kind == Undo || d.kind == Redo) && errors.Is(m.err, pawl.ErrNotFound)
}
