package chat

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
)

// marked is what is copied when the mouse goes from one cell to another.
func marked(v *View, x, y, a, b int) string {
	v.Render()
	v.mousePress(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	v.mouseDrag(tea.MouseMotionMsg{X: a, Y: b, Button: tea.MouseLeft})
	v.Render()
	return v.mouseRelease(tea.MouseReleaseMsg{})
}

// TestMouseWide: what is copied is what was written, also where signs are wide,
// joined or marked, and where code was broken.
func TestMouseWide(t *testing.T) {
	t.Parallel()
	const width = 20
	long := strings.Repeat("0123456789", 4)
	for _, c := range []struct {
		name, text string
		want       string // of all of it
	}{
		{"wide signs are joined again", "日本語のテキストがここに長くあります", "日本語のテキストがここに長くあります"},
		{"emoji stay whole", "👩‍💻 👨‍👩‍👧‍👦 👍🏽 one two three four five", "👩‍💻 👨‍👩‍👧‍👦 👍🏽 one two three four five"},
		{"marks above letters", "e\u0301a\u0302 one two three four five six", "e\u0301a\u0302 one two three four five six"},
		{"code that was broken, without the bar", "```go\nx := \"" + long + "\"\n\n\ty := 1\n```", "x := \"" + long + "\"\n\n    y := 1"},
		{"a word that was broken", "see " + long + " end", "see " + long + " end"},
		{"a quote, without the bar", "> one two three four five six seven", "one two three four five six seven"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := newEventBuilder()
			tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: c.text}}})
			v := viewOf(t, tl, "plain", width, 20)
			n := len(v.lines(v.Log.Entries()[0]))
			if n < 2 {
				t.Fatalf("it was not broken: %d lines", n)
			}
			if got := marked(v, 0, 0, width-1, n-1); got != c.want {
				t.Errorf("copied %q, want %q", got, c.want)
			}
		})
	}
}

// TestMouseInWideSigns: a wide sign is copied whole or not at all, wherever in it
// the mouse is.
func TestMouseInWideSigns(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "日本語x👩‍💻y"}}})
	v := viewOf(t, tl, "plain", 40, 5)
	for from := 1; from < 11; from++ {
		for to := from + 1; to < 12; to++ {
			got := marked(v, from, 0, to, 0)
			if !strings.Contains("日本語x👩‍💻y", got) || strings.Contains(got, "👩") && !strings.Contains(got, "👩‍💻") {
				t.Errorf("from %d to %d: %q", from, to, got)
			}
			if w := ansi.StringWidth(got); w > to-from+2 {
				t.Errorf("from %d to %d: %q is %d wide", from, to, got, w)
			}
		}
	}
}

// TestCopiedIsWritten: what a third party wrote is copied without what steers a
// terminal, into which it may be pasted.
func TestCopiedIsWritten(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "ls\x1b]52;c;cm0=\x07\u202e -l\x1b[201~\rrm -rf x\u200b \U000e0041end"}}})
	v := viewOf(t, tl, "plain", 60, 8)
	n := len(v.lines(v.Log.Entries()[0]))
	for name, got := range map[string]string{"by the mouse": marked(v, 0, 0, 59, n-1), "by the key": copied(v), "the newest reply": v.Log.LastReply()} {
		if s := steers(strings.ReplaceAll(got, "\n", "")); s != "" || !strings.Contains(got, "rm -rf x") {
			t.Errorf("%s: %q has %s", name, got, s)
		}
	}
}

func copied(v *View) string {
	v.Select(-1)
	defer v.Unselect()
	return v.Copy()
}
