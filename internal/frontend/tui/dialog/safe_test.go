package dialog

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// color is all that a dialog tells the terminal beside text: how it looks, and
// where it leads to.
var color = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;[^\x1b\x07]*(\x1b\\\\|\x07)")

// acts returns the first character that could act on a terminal, or hide.
func acts(view string) (rune, bool) {
	for _, r := range color.ReplaceAllString(view, "") {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0xe0000 && r < 0xe0080) {
			return r, true
		}
	}
	return 0, false
}

// hostile is text of third parties.
func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "word ", "日本", "👩‍💻", " ", "  ", "\n", "\r", "\t", "\x1b[2J", "\x1b]0;t\x07", "\x1b]52;c;eA==\x1b\\", "\x07", "\x00", "\x9b31m", "\u009b1m", "\u202e",
			"\U000e0041", "\xff", "| ", "Reason\n", "Always allow adds\n", "  | +x\n", "Change\n", "  | --- a\n", "  | +++ b/a.go\n", "  | @@ -1 +1 @@\n", "[a](http://b.test/\x1b)", strings.Repeat("long", 60),
		}), 0, 12).Draw(t, "pieces"), "")
	})
}

// TestNothingActs checks that untrusted text in any field is shown as text and does not break the frame.
func TestNothingActs(t *testing.T) {
	t.Parallel()
	s := shared(t, "dark", nil)
	rapid.Check(t, func(rt *rapid.T) {
		text := func(name string) string { return hostile().Draw(rt, name) }
		rule, err := json.Marshal(map[string]string{"pattern": text("rule")})
		if err != nil {
			rt.Fatal(err)
		}
		asking := Asking{Ask: pawl.Ask{
			Kind: rapid.SampledFrom([]pawl.AskKind{pawl.AskPermission, pawl.AskQuestion, pawl.AskPlan, pawl.AskLoop}).Draw(rt, "kind"),
			Text: text("text"), Offer: []json.RawMessage{rule},
		}}
		if asking.Ask.Kind == pawl.AskQuestion || asking.Ask.Kind == pawl.AskPlan {
			q := pawl.Question{Header: text("header"), Question: text("question"), Multiple: rapid.Bool().Draw(rt, "multiple"),
				Options: []pawl.Option{{Label: text("label"), Description: text("about")}}}
			asking.Ask.Questions = []pawl.Question{q, q}
		}
		d, _ := at(t, s, asking, 1)
		settle(d)
		d.Update(answeredMsg{d.ID(), errText(text("fault"))})
		press(d, rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "down", "enter", "space", "e", "w", "pgdown", ":typed"}), 0, 6).Draw(rt, "keys")...)
		for _, dialog := range []ui.Dialog{d, NewFailure(s, errText(text("failure"))),
			NewTrust(s, pawl.Project{Dir: text("dir"), Trust: pawl.TrustInfo{Parts: []string{text("part")}}})} {
			view := dialog.View(60, 20)
			if r, bad := acts(view); bad {
				rt.Fatalf("%U reaches the terminal:\n%q", r, view)
			}
			for line := range strings.SplitSeq(view, "\n") {
				if w := ansi.StringWidth(line); w != 58 {
					rt.Fatalf("a line of %d cells breaks the box: %q", w, line)
				}
			}
		}
	})
}

type errText string

func (e errText) Error() string { return string(e) }

// TestBroken: breaking a text leaves nothing out, and what is behind a bar stays
// behind one.
func TestBroken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bcd", " ", "   ", "日本", "e\u0301", "|", "why"}), 1, 40).Draw(rt, "text"), "")
		width := rapid.IntRange(12, 40).Draw(rt, "width")
		var joined strings.Builder
		for _, line := range wrapText("  | "+text, width) {
			rest, barred := strings.CutPrefix(line, "  | ")
			if !barred {
				rt.Fatalf("%q stands without its bar", line)
			}
			if ansi.StringWidth(line) > width {
				rt.Fatalf("%q is wider than %d", line, width)
			}
			joined.WriteString(rest)
		}
		if joined.String() != text {
			rt.Fatalf("got %q of %q", joined.String(), text)
		}
	})
}

// TestPainted: colors change nothing of a diff, and every line stays behind its bar.
func TestPainted(t *testing.T) {
	t.Parallel()
	p := newPainter(shared(t, "dark", nil).Styles)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"+", "-", " ", "@@", "+++ b/a.go", "--- a/a.go", "func f() {", "\"text", "// remark", "/*", "*/", "`", "日本", "e\u0301", "   ", "\\ No newline",
		}), 0, 14).Draw(rt, "text"), "")
		width := rapid.IntRange(12, 40).Draw(rt, "width")
		var joined strings.Builder
		lines, _ := p.chop(text, width)
		for _, line := range lines {
			line = ansi.Strip(line)
			rest, barred := strings.CutPrefix(line, bar)
			if !barred || ansi.StringWidth(line) > width {
				rt.Fatalf("%q has no bar, or is wider than %d", line, width)
			}
			joined.WriteString(rest)
		}
		if got := joined.String(); got != text {
			rt.Fatalf("got %q of %q", got, text)
		}
	})
}
