package dialog

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Trusted reports that the project's configuration is trusted now.
type Trusted struct{ Dir string }

// Trust asks whether to trust a project's configuration, which has no effect until the
// user agrees. Pawl works without it too.
type Trust struct {
	shared  *ui.Shared
	folder  pawl.Project
	lock    Lock
	pane    Pane
	fault   string
	sending bool
}

// NewTrust returns the dialog of a project.
func NewTrust(s *ui.Shared, f pawl.Project) *Trust {
	return &Trust{shared: s, folder: f, lock: *NewLock()}
}

// trustedMsg is the result of trusting a project.
type trustedMsg struct {
	folder pawl.Project // its current state, if it has changed
	err    error
}

// Shown starts the lock.
func (t *Trust) Shown() tea.Cmd { return t.lock.Shut() }

// Update handles a message.
func (t *Trust) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case settledMsg:
		return t, t.lock.settled(m)
	case trustedMsg:
		return t.trustResult(m)
	case tea.MouseWheelMsg:
		t.pane.Wheel(m)
	case tea.KeyPressMsg:
		if !t.lock.Takes() || t.pane.Key(t.shared.Keys, m.String(), true) {
			return t, nil
		}
		return t.key(m)
	}
	return t, nil
}

func (t *Trust) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd) {
	switch t.shared.Keys.Action(keys.Ask, k.String()) {
	case keys.Approve:
		switch {
		case t.sending:
		case t.pane.unseen() > 0:
			t.fault = "some lines have not been shown yet: read to the end first"
		default:
			t.sending, t.fault = true, ""
			return t, t.trust()
		}
	case keys.Deny:
		return nil, nil
	default:
	}
	return t, nil
}

func (t *Trust) trust() tea.Cmd {
	svc, ctx, f := t.shared.Service, t.shared.Context, t.folder
	return func() tea.Msg {
		err := svc.Trust(ctx, f.Dir, f.Trust.Hash)
		if errors.Is(err, pawl.ErrConflict) {
			if now, failed := svc.Look(ctx, f.Dir); failed == nil {
				f = now
			}
		}
		return trustedMsg{f, err}
	}
}

func (t *Trust) trustResult(m trustedMsg) (ui.Dialog, tea.Cmd) {
	t.sending = false
	switch {
	case m.err == nil:
		return nil, tea.Batch(ui.Send(Trusted{t.folder.Dir}), ui.Send(ui.Notice{Text: "Trusted. The project configuration applies from the next prompt."}))
	case errors.Is(m.err, pawl.ErrConflict):
		t.folder, t.fault = m.folder, "the configuration has changed: review it again"
		t.pane.Renew()
		return t, t.lock.Shut()
	default:
		t.fault = fault.Text(m.err)
		return t, nil
	}
}

// View draws the dialog.
func (t *Trust) View(width, height int) string {
	t.lock.Drawn()
	s := t.shared.Styles
	f := Frame{Styles: s, Tone: s.Warn, Title: "Trust this project?", Width: width}
	inner := f.Inner()
	t.pane.Fit(inner, s, t.text)
	foot := t.foot(inner)
	lines := t.pane.View(height - 4 - len(foot))
	return f.Render(append(append(lines[:len(lines):len(lines)], t.pane.More(t.shared)), foot...))
}

// text lists the project's configuration.
func (t *Trust) text(width int) []string {
	s := t.shared.Styles
	var lines []string
	for _, line := range wrapText(sanitize.Line(t.folder.Dir), width) {
		lines = append(lines, s.Bold.Render(line))
	}
	why := "The configuration of this project can run programs and instruct the model. Pawl ignores it until you trust the project."
	if t.folder.Trust.State == "changed" {
		why = "The configuration of this project has changed since you trusted it. Pawl ignores it until you trust the project again."
	}
	lines = append(lines, "")
	lines = append(lines, wrapWords(why, width)...)
	lines = append(lines, "", s.Muted.Render("it enables"))
	for _, part := range t.folder.Trust.Parts {
		lines = append(lines, wrapText("  | "+sanitize.Line(part), width)...)
	}
	return lines
}

func (t *Trust) foot(inner int) []string {
	s, k := t.shared.Styles, t.shared.Keys
	var foot []string
	if t.fault != "" {
		for _, line := range wrapWords(sanitize.Marked(t.fault), inner) {
			foot = append(foot, s.Bad.Render(line))
		}
	}
	if t.sending {
		return append(foot, s.Muted.Render("trusting …"))
	}
	return append(foot, Hints(s, inner, t.lock.Open(), Hint{k.Key(keys.Approve), "trust this project"}, Hint{k.Key(keys.Deny), "not now"})...)
}
