package notify

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		mode Mode
		env  []string
		msgs []tea.Msg
		want string
	}{
		{"looked at", Desktop, nil, nil, ""},
		{"elsewhere", Desktop, nil, []tea.Msg{tea.BlurMsg{}}, "\x1b]9;pawl: done\x1b\\"},
		{"back again", Desktop, nil, []tea.Msg{tea.BlurMsg{}, tea.FocusMsg{}}, ""},
		{"with the bell", Bell, nil, []tea.Msg{tea.BlurMsg{}}, "\x1b]9;pawl: done\x1b\\\a"},
		{"not wanted", Off, nil, []tea.Msg{tea.BlurMsg{}}, ""},
		{"urxvt", Desktop, []string{"TERM=rxvt-unicode-256color"}, []tea.Msg{tea.BlurMsg{}}, "\x1b]777;notify;pawl;pawl: done\x1b\\"},
		{"VTE", Desktop, []string{"TERM=xterm-256color", "VTE_VERSION=7600"}, []tea.Msg{tea.BlurMsg{}}, "\x1b]777;notify;pawl;pawl: done\x1b\\"},
		{"tmux", Desktop, []string{"TMUX=/tmp/x"}, []tea.Msg{tea.BlurMsg{}}, "\x1bPtmux;\x1b\x1b]9;pawl: done\x1b\x1b\\\x1b\\"},
	} {
		n := New(c.mode, c.env)
		for _, m := range c.msgs {
			n.Update(m)
		}
		got := ""
		if cmd := n.Notify("done"); cmd != nil {
			got = cmd().(tea.RawMsg).Msg.(string)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A title that a model wrote cannot end the sequence, nor begin another.
func TestHostile(t *testing.T) {
	t.Parallel()
	n := New(Desktop, nil)
	got := n.sequence("\x1b\\\x07\x1b]52;c;eA==\x07" + strings.Repeat("x", 500) + "\u009c")
	inner := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]9;"), "\x1b\\")
	if strings.ContainsAny(inner, "\x1b\a;\u009c") || len([]rune(inner)) > maxText+1 {
		t.Errorf("%q", got)
	}
}

// TestNotice: who cannot know where the person looks tells them, unless they do not
// want it.
func TestNotice(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode]string{Desktop: "\x1b]9;pawl: done\x1b\\", Bell: "\x1b]9;pawl: done\x1b\\\a", Off: ""} {
		if got := New(mode, nil).Sequence("done"); got != want {
			t.Errorf("%q: %q, want %q", mode, got, want)
		}
	}
}
