package rewind

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
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
var errChanged = errors.New("the session or its files have changed: review the new preview")

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
			return pawl.Undone{}, fmt.Errorf("the undo was requested, but its result is unknown: %w", err)
		}
		switch b := e.Body.(type) {
		case pawl.Undone:
			switch {
			case b.Asked != asked:
			case b.Refused != "":
				return b, fmt.Errorf("nothing changed: %s", b.Refused)
			default:
				return b, nil
			}
		case pawl.Status:
			if b.State == "interrupted" {
				return pawl.Undone{}, fault.New(pawl.ErrUnavailable, "the undo was interrupted: %s", b.Message).Hint("Run `pawl resume %s` to continue it.", id)
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
	d.doing, d.fault = false, fault.Text(err)
	d.previews = nil
	d.pane.Renew()
	return tea.Batch(d.preview(0), d.lock.Shut())
}

// Notice describes what was done, and how to reverse it.
func (e Ended) Notice() string {
	if e.Forked {
		return "Forked. The files are unchanged."
	}
	text := "Undid "
	if e.Plan.Redo != 0 {
		text = "Redid "
	}
	var counts []string
	if e.Plan.Scope.Conversation() {
		counts = append(counts, humanize.Plural(e.Plan.Messages, "message"))
	}
	if n := len(e.Done.Changed); n > 0 || len(counts) == 0 {
		counts = append(counts, humanize.Plural(n, "file change"))
	}
	text += strings.Join(counts, " and ")
	if n := len(e.Done.Aside); n > 0 {
		text += ", backed up " + humanize.Plural(n, "file")
	}
	if n := len(e.Done.Left); n > 0 {
		text += ", kept " + humanize.Plural(n, "file")
	}
	if e.Plan.Redo != 0 {
		return text
	}
	return text + " · /redo to restore"
}
