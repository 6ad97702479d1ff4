// Package dialog has the windows in which pawl asks something, and the queue of
// what is asked.
//
// No key that was pressed before a window was seen answers it: see lock. What is
// asked is a stranger's text: it is made safe here.
package dialog

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Asking is what a session waits for a person for.
type Asking struct {
	Session pawl.SessionID
	Seq     pawl.Seq
	Who     string // the subagent that asks, safe to show; "" is the session that is on the screen
	Ask     pawl.Ask
	At      time.Time
}

// ID is what tells it from others.
func (a Asking) ID() ID { return ID{a.Session, a.Seq} }

// ID names an ask.
type ID struct {
	Session pawl.SessionID
	Seq     pawl.Seq
}

// Gone says that an ask does not wait any more.
type Gone struct{ ID ID }

// Asker is the dialog of an ask.
type Asker interface {
	ui.Dialog
	ID() ID
	// Shown is called when it comes to be on top: it begins to wait until keys count.
	Shown() tea.Cmd
	// Typing reports whether the person writes in it, so that keys are letters.
	Typing() bool
}

// New returns the dialog of an ask. waiting is how many there are in all.
func New(s *ui.Shared, a Asking, waiting func() int) Asker {
	b := &base{shared: s, asking: a, waiting: waiting, now: time.Now}
	b.lock.now = func() time.Time { return b.now() }
	switch {
	case a.Ask.Kind == pawl.AskPermission:
		return newPermission(b)
	case len(a.Ask.Questions) > 0:
		return newForm(b)
	default:
		return newConfirm(b)
	}
}

// base is what the dialogs have in common.
type base struct {
	shared  *ui.Shared
	asking  Asking
	waiting func() int
	now     func() time.Time

	lock    Lock
	pane    Pane
	field   *field
	fault   string // why an answer was not taken
	sending bool
	ticking bool
}

// ID names the ask.
func (b *base) ID() ID { return b.asking.ID() }

// Typing reports whether keys are letters.
func (b *base) Typing() bool { return b.field != nil }

// Shown begins the time until keys count, and the clock if there is one.
func (b *base) Shown() tea.Cmd {
	b.sending, b.ticking = false, false
	return tea.Batch(b.lock.Shut(), b.tick())
}

// answeredMsg is what came of an answer.
type answeredMsg struct {
	id  ID
	err error
}

// clockMsg is that the time that is left has changed.
type clockMsg struct{ id ID }

// beside takes the messages that are no keys. It reports whether it was one.
func (b *base) beside(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case settledMsg:
		return b.lock.settled(m), true
	case clockMsg:
		if m.id != b.ID() {
			return nil, true
		}
		b.ticking = false
		return b.tick(), true
	case answeredMsg:
		if m.id != b.ID() {
			return nil, true
		}
		return b.answered(m.err), true
	case tea.MouseWheelMsg:
		b.pane.Wheel(m)
		return nil, true
	default:
		return nil, false
	}
}

// answered closes the dialog, or says why the answer was not taken.
func (b *base) answered(err error) tea.Cmd {
	b.sending = false
	switch {
	case err == nil:
		return ui.Send(Gone{b.ID()})
	case errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrNotFound):
		return tea.Batch(ui.Send(Gone{b.ID()}), ui.Send(ui.Notice{Text: "that was answered elsewhere already"}))
	default:
		b.fault = err.Error()
		return nil
	}
}

// answer gives the person's answer. The dialog stays until it is accepted.
func (b *base) answer(a pawl.Answer) tea.Cmd {
	if b.sending {
		return nil
	}
	b.sending, b.fault = true, ""
	svc, ctx, id := b.shared.Service, b.shared.Context, b.ID()
	return func() tea.Msg { return answeredMsg{id, give(ctx, svc, id, a)} }
}

// answerTime is how long an answer may take to be accepted.
const answerTime = 15 * time.Second

func give(ctx context.Context, svc pawl.Service, id ID, a pawl.Answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return svc.Answer(ctx, id.Session, id.Seq, a)
}

// tick is for when the time that is left looks different.
func (b *base) tick() tea.Cmd {
	left := b.left()
	if left <= 0 || b.ticking {
		return nil
	}
	b.ticking = true
	wait := time.Second
	if left > 2*time.Minute {
		wait = 20 * time.Second
	}
	id := b.ID()
	return tea.Tick(wait, func(time.Time) tea.Msg { return clockMsg{id} })
}

// left is how long the ask still waits; 0 means for ever, or that nobody knows: an
// ask that was taken up again has all of its time.
func (b *base) left() time.Duration {
	if b.asking.Ask.Timeout <= 0 {
		return 0
	}
	return max(0, b.asking.At.Add(b.asking.Ask.Timeout).Sub(b.now()))
}

// frame is the window.
func (b *base) frame(width int, tone lipgloss.Style, title string) Frame {
	right := ""
	add := func(text string) {
		if right != "" {
			right += " · "
		}
		right += text
	}
	if n := b.waiting(); n > 1 {
		add(fmt.Sprintf("%d more wait", n-1))
	}
	switch left := b.left(); {
	case left > 2*time.Minute:
		add(fmt.Sprintf("%d minutes left", int(left.Round(time.Minute).Minutes())))
	case left > 0:
		add(fmt.Sprintf("%d seconds left", int(left.Round(time.Second).Seconds())))
	}
	return Frame{Styles: b.shared.Styles, Tone: tone, Title: title, Right: right, Width: width}
}

// window draws who asks, the text and what can be done.
func (b *base) window(f Frame, height int, foot []string) string {
	lines := b.who(f.Inner())
	lines = append(lines, b.pane.View(height-4-len(lines)-len(foot))...)
	lines = append(lines, b.pane.More(b.shared))
	return f.Render(append(lines, foot...))
}

// who is the line that says which subagent asks; none for the session itself.
func (b *base) who(width int) []string {
	if b.asking.Who == "" {
		return nil
	}
	lines := broken(b.asking.Who+" asks:", width)
	for i := range lines {
		lines[i] = b.shared.Styles.User.Render(lines[i])
	}
	return append(lines, "")
}

// faults are the lines that say why an answer was not taken.
func (b *base) faults(width int) []string {
	if b.fault == "" {
		return nil
	}
	lines := worded(sanitize.Marked(b.fault), width)
	for i := range lines {
		lines[i] = b.shared.Styles.Bad.Render(lines[i])
	}
	return append(lines, "")
}
