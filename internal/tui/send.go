package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/editor"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// sentMsg is a prompt that was accepted.
type sentMsg struct {
	session pawl.Session
	notes   []string // for the person
}

// sent follows the session, if it is new, and says what is to be known.
func (a *app) sent(m sentMsg) tea.Cmd {
	var cmds []tea.Cmd
	if len(m.notes) > 0 {
		cmds = append(cmds, ui.Show(ui.Notice{Text: strings.Join(m.notes, "; ")}))
	}
	if a.feed == nil || a.feed.id != m.session.ID {
		a.editor.Become(m.session.ID)
		cmds = append(cmds, a.follow(m.session, 0))
	}
	return tea.Batch(cmds...)
}

// dir is the folder that the session works in.
func (a *app) dir() string {
	if a.session.Dir != "" {
		return a.session.Dir
	}
	return a.shared.Dir
}

// send gives the session a prompt, or a prompt that waits other words. One that
// cannot be sent goes back to the editor.
func (a *app) send(m editor.Submit) tea.Cmd {
	svc, ctx, s, dir, settings := a.shared.Service, a.shared.Context, a.session, a.dir(), a.settings
	a.view.ToEnd()
	return func() tea.Msg {
		p, notes, err := m.Prompt(ctx, svc, dir, settings)
		switch {
		case err != nil:
		case m.Reword != 0:
			err = svc.Reword(ctx, s.ID, m.Reword, p.Parts)
		default:
			if s, err = ensure(ctx, svc, s, dir); err == nil {
				_, err = svc.Send(ctx, s.ID, p)
			}
		}
		if err != nil {
			return editor.Back{Submit: m, Err: err}
		}
		return sentMsg{s, notes}
	}
}

// ensure makes a session if there is none.
func ensure(ctx context.Context, svc pawl.Service, s pawl.Session, dir string) (pawl.Session, error) {
	if s.ID != "" {
		return s, nil
	}
	return svc.Create(ctx, pawl.NewSession{Dir: dir})
}

// shell runs a command of the person's.
func (a *app) shell(m editor.Shell) tea.Cmd {
	runner, ok := a.shared.Service.(interface {
		Shell(ctx context.Context, id pawl.SessionID, command string) (pawl.Seq, error)
	})
	if !ok {
		return ui.Show(ui.Failed{Err: fmt.Errorf("commands behind a ! cannot be run here: use another terminal: %w", pawl.ErrUnavailable)})
	}
	svc, ctx, s, dir := a.shared.Service, a.shared.Context, a.session, a.dir()
	return func() tea.Msg {
		s, err := ensure(ctx, svc, s, dir)
		if err == nil {
			_, err = runner.Shell(ctx, s.ID, m.Command)
		}
		if err != nil {
			return ui.Failed{Err: err}
		}
		return sentMsg{session: s}
	}
}

// changesWaiting are the events after which other prompts may wait.
var changesWaiting = []pawl.Kind{
	pawl.KindOf(pawl.Prompted{}), pawl.KindOf(pawl.Reworded{}), pawl.KindOf(pawl.Withdrawn{}),
	pawl.KindOf(pawl.TurnStarted{}), pawl.KindOf(pawl.Injected{}), pawl.KindOf(pawl.TurnFinished{}),
}

// waiting reads which prompts wait, if events say that they may have changed.
func (a *app) waiting(events []pawl.Event) tea.Cmd {
	changed := slices.ContainsFunc(events, func(e pawl.Event) bool { return slices.Contains(changesWaiting, pawl.KindOf(e.Body)) })
	if !changed {
		return nil
	}
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	return func() tea.Msg {
		list, err := svc.Waiting(ctx, id)
		if err != nil {
			return nil // the next event asks again
		}
		return editor.Waiting{Session: id, List: list}
	}
}
