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
	lock    *Lock
	pane    Pane
	menu    menu
	fault   string
	sending bool
	left    bool // the user does not trust the project
}

// NewTrust returns the dialog of a project.
func NewTrust(s *ui.Shared, f pawl.Project) *Trust {
	t := &Trust{shared: s, folder: f, lock: NewLock()}
	t.menu = menu{cursor: 1, items: []menuItem{{label: "Trust this project", do: t.approve}, {label: "Not now", do: nil}}}
	t.menu.items[1].do = func() tea.Cmd {
		t.left = true
		return nil
	}
	return t
}

// Typing reports that there is no text field.
func (t *Trust) Typing() bool { return false }

func (t *Trust) keyboard() *Lock { return t.lock }

// uses reports whether a character does something in the dialog.
func (t *Trust) uses(key string) bool {
	_, number := t.menu.number(key)
	return number || key == "space"
}

// Click chooses what is in a line of the window. The first click on a dialog that does not have the
// keyboard only gives it the keyboard.
func (t *Trust) Click(line int) (ui.Dialog, tea.Cmd) {
	if !t.lock.Open() {
		t.lock.engage()
		return t, nil
	}
	cmd := t.menu.click(line)
	if t.left {
		return nil, nil
	}
	return t, cmd
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
		if !t.lock.Takes() {
			return t, nil
		}
		return t.key(m.String())
	}
	return t, nil
}

func (t *Trust) key(name string) (ui.Dialog, tea.Cmd) {
	if t.pane.Key(t.shared.Keys, name, false) || t.pane.edgeKey(name) {
		return t, nil
	}
	cmd, ok := t.menu.key(t.shared.Keys, name)
	if t.left || !ok && t.shared.Keys.Action(keys.Dialog, name) == keys.Close {
		return nil, nil
	}
	return t, cmd
}

// approve trusts the project, if all of its configuration has been visible.
func (t *Trust) approve() tea.Cmd {
	switch {
	case t.sending:
		return nil
	case t.pane.unseen() > 0:
		t.fault = "some lines have not been shown yet: read to the end first"
		return nil
	}
	t.sending, t.fault = true, ""
	return t.trust()
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
	choices, foot := append(t.menu.view(s, inner, t.lock.focused()), ""), t.foot(inner)
	lines := t.pane.View(height - 4 - len(choices) - len(foot))
	lines = append(lines[:len(lines):len(lines)], t.pane.More(t.shared))
	t.menu.top = len(lines) + 1
	return f.Render(append(append(lines, choices...), foot...))
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
	if !t.lock.focused() {
		return append(foot, Hints(s, inner, true, Hint{"tab", "answer"})...)
	}
	return append(foot, Hints(s, inner, true, Hint{"↑↓", "move"}, Hint{k.Key(keys.Choose), "choose"}, Hint{k.Key(keys.Close), "not now"})...)
}
