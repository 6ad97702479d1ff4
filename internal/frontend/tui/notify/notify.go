// Package notify tells a user who looks elsewhere that pawl asks or is done: with a
// desktop notification, and the bell if configured.
package notify

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Mode is the kind of notification.
type Mode string

// The modes.
const (
	Desktop Mode = ""     // desktop notification
	Bell    Mode = "bell" // the terminal's bell too
	Off     Mode = "off"
)

// maxText bounds a notification, in characters.
const maxText = 120

// Notifier tracks whether the terminal has the focus. A terminal that does not report
// it counts as focused: nothing is sent.
type Notifier struct {
	mode      Mode
	osc       string // the escape sequence that this terminal supports
	tmux      bool
	unfocused bool // the terminal does not have the focus
}

// New returns a notifier for the terminal that the environment describes.
func New(mode Mode, env []string) *Notifier {
	n := &Notifier{mode: mode, osc: "9;"}
	if strings.HasPrefix(lookupEnv(env, "TERM"), "rxvt") || strings.HasPrefix(lookupEnv(env, "TERM"), "foot") || lookupEnv(env, "VTE_VERSION") != "" {
		n.osc = "777;notify;pawl;"
	}
	n.tmux = lookupEnv(env, "TMUX") != ""
	return n
}

func lookupEnv(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// Update handles focus messages.
func (n *Notifier) Update(msg tea.Msg) {
	switch msg.(type) {
	case tea.FocusMsg:
		n.unfocused = false
	case tea.BlurMsg:
		n.unfocused = true
	}
}

// Notify returns a command that notifies the user if the terminal does not have the
// focus. The text may be untrusted.
func (n *Notifier) Notify(text string) tea.Cmd {
	if !n.unfocused || n.mode == Off {
		return nil
	}
	return tea.Raw(n.sequence(text))
}

// Sequence returns the notification's escape sequence whatever the focus; "" if
// notifications are off.
func (n *Notifier) Sequence(text string) string {
	if n.mode == Off {
		return ""
	}
	return n.sequence(text)
}

// sequence returns the escape sequence.
func (n *Notifier) sequence(text string) string {
	text = strings.ReplaceAll(sanitize.Line("pawl: "+text), ";", ",") // some terminals interpret what follows a semicolon
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	seq := "\x1b]" + n.osc + text + "\x1b\\"
	if n.tmux { // passed through, if tmux allows it
		seq = "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	if n.mode == Bell {
		seq += "\a"
	}
	return seq
}
