package rewind

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/pawl-dev/pawl/internal/humanize"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// Ended reports the result. The dialog does not close itself.
type Ended struct {
	Dialog  *Dialog
	Session pawl.SessionID // the session, or the new one
	Plan    pawl.UndoPlan  // as it was shown
	Done    pawl.Undone
	Forked  bool
	Prompt  pawl.Parts // the undone prompt, to be edited again
	Err     error      // nothing was done
}

// errChanged means that the plan has changed since it was shown.
var errChanged = errors.New("it has changed while you looked: this is what would be done now")

// do applies the plan, if it is still what was shown.
func (d *Dialog) do(c pawl.Conflicts) tea.Cmd {
	shown := d.selectedPreview()
	if d.doing || shown == nil || shown.err != nil {
		return nil
	}
	d.doing, d.fault = true, ""
	d.stop()
	svc, ctx, end := d.shared.Service, d.shared.Context, Ended{Dialog: d, Session: d.session, Plan: shown.plan}
	return func() tea.Msg {
		order := end.Plan.Undo
		order.Conflicts = c
		if end.Err = unchanged(ctx, svc, end); end.Err == nil {
			end.Done, end.Err = undo(ctx, svc, end.Session, order)
		}
		if end.Plan.Redo == 0 && end.Plan.Scope.Conversation() {
			end.Prompt = end.Plan.Prompt
		}
		return end
	}
}

// unchanged compares with a new plan: another process may have continued the session
// or changed a file.
func unchanged(ctx context.Context, svc pawl.Service, end Ended) error {
	now, err := svc.Preview(ctx, end.Session, end.Plan.Undo)
	if err == nil && !reflect.DeepEqual(now, end.Plan) {
		return errChanged
	}
	return err
}

// undo starts an undo or redo and waits for the result.
func undo(ctx context.Context, svc pawl.Service, id pawl.SessionID, r pawl.Undo) (pawl.Undone, error) {
	asked, err := svc.Undo(ctx, id, r)
	if err != nil {
		return pawl.Undone{}, err
	}
	for e, err := range svc.Events(ctx, id, asked) {
		if err != nil {
			return pawl.Undone{}, fmt.Errorf("it is ordered, and what came of it is not known: %w", err)
		}
		switch b := e.Body.(type) {
		case pawl.Undone:
			switch {
			case b.Asked != asked:
			case b.Refused != "":
				return b, fmt.Errorf("nothing was changed: %s", b.Refused)
			default:
				return b, nil
			}
		case pawl.Status:
			if b.State == "interrupted" {
				return pawl.Undone{}, fmt.Errorf("it is ordered, and the work was interrupted: %s: 'pawl resume %s' goes on", b.Message, id)
			}
		default:
		}
	}
	return pawl.Undone{}, context.Cause(ctx)
}

// fork creates a session that ends before the chosen message.
func (d *Dialog) fork() tea.Cmd {
	m, ok := d.message()
	if d.doing || !ok {
		return nil
	}
	d.doing, d.fault = true, ""
	svc, ctx, id := d.shared.Service, d.shared.Context, d.session
	return func() tea.Msg {
		s, err := svc.Fork(ctx, id, m.Seq)
		return Ended{Dialog: d, Session: s.ID, Forked: true, Prompt: m.Parts, Err: err}
	}
}

// Fail shows why nothing was done, and makes a new plan.
func (d *Dialog) Fail(err error) tea.Cmd {
	d.doing, d.fault = false, err.Error()
	d.previews = nil
	d.pane.Renew()
	return tea.Batch(d.preview(0), d.lock.Shut())
}

// Notice describes what was done, and how to reverse it.
func (e Ended) Notice() string {
	if e.Forked {
		return "this is another session now; the files are as they were"
	}
	text := "went back"
	if e.Plan.Redo != 0 {
		text = "went forward again"
	}
	if e.Plan.Scope.Conversation() {
		text += ", " + humanize.Plural(e.Plan.Messages, "message")
	}
	if n := len(e.Done.Changed); n > 0 {
		text += ", " + humanize.Plural(n, "file")
	}
	if n := len(e.Done.Aside); n > 0 {
		text += fmt.Sprintf(", %d kept aside", n)
	}
	if n := len(e.Done.Left); n > 0 {
		text += fmt.Sprintf(", %d left alone", n)
	}
	if e.Plan.Redo != 0 {
		return text
	}
	return text + " · /redo brings it back"
}
