// Package dialog has the dialogs in which pawl asks the user, and the queue of pending
// asks.
//
// Keys that were pressed before a dialog was visible do not answer it; see Lock. The
// texts of asks are untrusted and are sanitized here.
package dialog

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Asking is a pending ask of a session.
type Asking struct {
	Session pawl.SessionID
	Seq     pawl.Seq
	Who     string // the subagent that asks, sanitized; "" for the open session
	Ask     pawl.Ask
	At      time.Time
}

// ID returns the identity of the ask.
func (a Asking) ID() ID { return ID{a.Session, a.Seq} }

// ID identifies an ask.
type ID struct {
	Session pawl.SessionID
	Seq     pawl.Seq
}

// Resolved reports that an ask is no longer pending.
type Resolved struct{ ID ID }

// Asker is the dialog of an ask.
type Asker interface {
	Prompt
	ID() ID
}

// New returns the dialog of an ask. waiting returns the number of pending asks.
func New(s *ui.Shared, a Asking, waiting func() int) Asker {
	b := &base{shared: s, asking: a, waiting: waiting, now: time.Now, lock: NewLock()}
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

// base is the common part of the ask dialogs.
type base struct {
	shared  *ui.Shared
	asking  Asking
	waiting func() int
	now     func() time.Time

	lock    *Lock
	pane    Pane
	field   *field
	fault   string // why the answer was rejected
	sending bool
	ticking bool
}

// ID returns the identity of the ask.
func (b *base) ID() ID { return b.asking.ID() }

// Typing reports whether a text field has the focus.
func (b *base) Typing() bool { return b.field != nil }

func (b *base) keyboard() *Lock { return b.lock }

// focused reports whether the dialog has the keyboard.
func (b *base) focused() bool { return b.lock.focused() }

// click chooses what is in a line of the window. The first click on a dialog that does not have the
// keyboard only gives it the keyboard.
func (b *base) click(line int, m *menu) tea.Cmd {
	if !b.lock.Open() {
		b.lock.engage()
		return nil
	}
	b.lock.engage()
	if b.field != nil || b.sending {
		return nil
	}
	return m.click(line)
}

// Shown starts the lock, and the clock if the ask has a timeout.
func (b *base) Shown() tea.Cmd {
	b.sending, b.ticking = false, false
	return tea.Batch(b.lock.Shut(), b.tick())
}

// answeredMsg is the result of sending an answer.
type answeredMsg struct {
	id  ID
	err error
}

// clockMsg updates the remaining time.
type clockMsg struct{ id ID }

// beside handles messages that are not keys. It reports whether msg is one.
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

// answered closes the dialog, or shows why the answer was rejected.
func (b *base) answered(err error) tea.Cmd {
	b.sending = false
	switch {
	case err == nil:
		return ui.Send(Resolved{b.ID()})
	case errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrNotFound):
		return tea.Batch(ui.Send(Resolved{b.ID()}), ui.Send(ui.Notice{Text: "Already answered elsewhere"}))
	default:
		b.fault = fault.Text(err)
		return nil
	}
}

// answer sends the user's answer. The dialog stays open until it is accepted.
func (b *base) answer(a pawl.Answer) tea.Cmd {
	if b.sending {
		return nil
	}
	b.sending, b.fault = true, ""
	svc, ctx, id := b.shared.Service, b.shared.Context, b.ID()
	return func() tea.Msg { return answeredMsg{id, sendAnswer(ctx, svc, id, a)} }
}

// answerTime bounds how long sending an answer may take.
const answerTime = 15 * time.Second

func sendAnswer(ctx context.Context, svc pawl.Service, id ID, a pawl.Answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return svc.Answer(ctx, id.Session, id.Seq, a)
}

// tick returns the next update of the remaining time.
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

// left returns the remaining time; 0 means no timeout. After a resume the ask has its
// full time again.
func (b *base) left() time.Duration {
	if b.asking.Ask.Timeout <= 0 {
		return 0
	}
	return max(0, b.asking.At.Add(b.asking.Ask.Timeout).Sub(b.now()))
}

// frame returns the window's frame.
func (b *base) frame(width int, tone lipgloss.Style, title string) Frame {
	right := ""
	add := func(text string) {
		if right != "" {
			right += " · "
		}
		right += text
	}
	if n := b.waiting(); n > 1 {
		add(fmt.Sprintf("%d more waiting", n-1))
	}
	switch left := b.left(); {
	case left > 2*time.Minute:
		add(humanize.Plural(int(left.Round(time.Minute).Minutes()), "minute") + " left")
	case left > 0:
		add(humanize.Plural(int(left.Round(time.Second).Seconds()), "second") + " left")
	}
	return Frame{Styles: b.shared.Styles, Tone: tone, Title: title, Right: right, Width: width}
}

// who returns the line that names the subagent that asks; nil for the open session.
func (b *base) who(width int) []string {
	if b.asking.Who == "" {
		return nil
	}
	lines := wrapText(b.asking.Who+" asks:", width)
	for i := range lines {
		lines[i] = b.shared.Styles.User.Render(lines[i])
	}
	return append(lines, "")
}

// faults returns the lines that say why an answer was rejected.
func (b *base) faults(width int) []string {
	if b.fault == "" {
		return nil
	}
	lines := wrapWords(sanitize.Marked(b.fault), width)
	for i := range lines {
		lines[i] = b.shared.Styles.Bad.Render(lines[i])
	}
	return append(lines, "")
}
