package editor

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
)

// styles are the only sequences that may come.
var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// keyNames are all keys that mean something to the editor, but those that run
// programs.
func keyNames() []string {
	names := append(textinput.KeyNames(), "esc", "tab", "ctrl+c", "ctrl+x")
	for _, b := range keys.Default {
		if b.Scope == keys.Editor && b.Action != keys.Paste && b.Action != keys.EditOutside {
			names = append(names, b.Keys...)
		}
	}
	slices.Sort(names)
	return names
}

// TestWhateverIsPressed: whatever is pressed and pasted, the screen stays whole: no
// control gets through, nothing is wider than the screen, the cursor is on it.
func TestWhateverIsPressed(t *testing.T) {
	t.Parallel()
	names := keyNames()
	hard := []string{"a", " ", "/", "@", "!", "日", "e\u0301", "\x1b[2J", "\u202e", "@app", "/re", "\t", "\xff", "x\ny", lines(11), "👩‍👩‍👧"}
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t, nil)
		s.SetSession("A")
		s.SetWidth(rapid.IntRange(8, 40).Draw(rt, "width"))
		s.Update(waiting())
		for range rapid.IntRange(0, 40).Draw(rt, "n") {
			text := rapid.SampledFrom(hard).Draw(rt, "text")
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				s.paste(text)
			case 1:
				if !strings.ContainsAny(text, "\n\t\x1b") {
					s.write(text)
				}
			default:
				s.do(s.Update(named(t, rapid.SampledFrom(names).Draw(rt, "key"))))
			}
			view := styles.ReplaceAllString(s.View(), "")
			if strings.ContainsFunc(view, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
				rt.Fatalf("a control shows: %q", view)
			}
			rows := strings.Split(view, "\n")
			for _, row := range rows {
				if w := ansi.StringWidth(row); w > s.width {
					rt.Fatalf("%q takes %d of %d cells", row, w, s.width)
				}
			}
			if c := s.Cursor(); c != nil && (c.X < 0 || c.X >= s.width || c.Y < 0 || c.Y >= len(rows)) {
				rt.Fatalf("the cursor is at %d,%d of %dx%d", c.X, c.Y, s.width, len(rows))
			}
		}
	})
}

// BenchmarkPasted draws a prompt with a paste of 10,000 lines.
func BenchmarkPasted(b *testing.B) {
	s := newStage(b, nil)
	s.SetWidth(120)
	s.paste(lines(10_000))
	for b.Loop() {
		s.write("x")
		s.View()
		s.Cursor()
		s.write("‹backspace›")
	}
}
