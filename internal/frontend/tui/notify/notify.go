// Package notify tells a person who looks elsewhere that pawl waits for them, or
// is done: by a notice of the desktop, and by the bell if they want.
package notify

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Mode is how a person wants to be told.
type Mode string

// The modes.
const (
	Desktop Mode = ""     // a notice of the desktop
	Bell    Mode = "bell" // the terminal's bell beside it
	Off     Mode = "off"
)

// maxText bounds a notice, in characters.
const maxText = 120

// Notifier knows whether the person looks at the terminal. One that does not tell
// counts as looked at: nothing is said.
type Notifier struct {
	mode      Mode
	osc       string // how this terminal is told
	tmux      bool
	unfocused bool // the person looks elsewhere
}

// New returns a notifier for the terminal that the environment is about.
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

// Update takes what the terminal says of its focus.
func (n *Notifier) Update(msg tea.Msg) {
	switch msg.(type) {
	case tea.FocusMsg:
		n.unfocused = false
	case tea.BlurMsg:
		n.unfocused = true
	}
}

// Tell is a command that tells the person, if they look elsewhere. The text may
// be a stranger's.
func (n *Notifier) Notify(text string) tea.Cmd {
	if !n.unfocused || n.mode == Off {
		return nil
	}
	return tea.Raw(n.sequence(text))
}

// Notice is what a terminal is sent to tell the person, for those that cannot know
// where they look; "" if they do not want to be told.
func (n *Notifier) Sequence(text string) string {
	if n.mode == Off {
		return ""
	}
	return n.sequence(text)
}

// sequence is what the terminal is sent.
func (n *Notifier) sequence(text string) string {
	text = strings.ReplaceAll(sanitize.Line("pawl: "+text), ";", ",") // some terminals take what follows one for orders
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	seq := "\x1b]" + n.osc + text + "\x1b\\"
	if n.tmux { // handed through, where tmux allows it
		seq = "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	if n.mode == Bell {
		seq += "\a"
	}
	return seq
}
