package layout

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func TestWrap(t *testing.T) {
	t.Parallel()
	bar := Same(Span{Text: "| "})
	for _, c := range []struct {
		name  string
		spans []Span
		frame Frame
		want  []string
	}{
		{"nothing", nil, bar, []string{"| "}},
		{"words", []Span{{Text: "one two three"}}, bar, []string{"| one two", "| three"}},
		{"a word of two looks", []Span{{Text: "one tw"}, {Text: "ooo", SGR: Bold}, {Text: " x"}}, bar, []string{"| one", "| tw\x1b[1mooo\x1b[m x"}},
		{"a long word", []Span{{Text: "a bcdefghijklm"}}, bar, []string{"| a bcdefg", "| hijklm"}},
		{"wide", []Span{{Text: "日本語日本語"}}, bar, []string{"| 日本語日", "| 本語"}},
		{"emoji stays whole", []Span{{Text: "abcdefg👩‍💻"}}, bar, []string{"| abcdefg", "| 👩‍💻"}},
		{"line ends", []Span{{Text: "a\n\nb"}}, bar, []string{"| a", "| ", "| b"}},
		{"hanging", []Span{{Text: "one two three"}}, Frame{[]Span{{Text: "- "}}, []Span{{Text: "  "}}}, []string{"- one two", "  three"}},
		{"indented", []Span{{Text: "    one two"}}, bar, []string{"|     one", "| two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, texts(Wrap(c.spans, 10, c.frame))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is wrapped fits, and can be had back.
func TestWrapKeepsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z日é👍]{1,30}`), 1, 12).Draw(t, "words")
		width := rapid.IntRange(4, 40).Draw(t, "width")
		text := strings.Join(words, " ")
		for name, lines := range map[string][]Line{
			"wrap": Wrap([]Span{{Text: text, SGR: Bold}}, width, Same(Span{Text: "| "})),
			"chop": Chop([]Span{{Text: text}}, width, Same(Span{Text: "| "})),
		} {
			for _, l := range lines {
				if n := ansi.StringWidth(l.Text); n > width {
					t.Fatalf("%s: %d cells, want at most %d: %q", name, n, width, l.Text)
				}
			}
			if got := Join(lines); got != text {
				t.Fatalf("%s: got %q, want %q", name, got, text)
			}
		}
	})
}

func TestLinkable(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"https://example.test/a?b=c": true, "HTTP://example.test": true, "file:///etc/passwd": false, "javascript:alert(1)": false,
		"https://a\x1b]52;c;eA==\x07": false, "https://a b": false, "https://é.test": false, "": false, "https://" + strings.Repeat("a", 3000): false,
	} {
		if got := Linkable(url); got != want {
			t.Errorf("%q: got %v", url, got)
		}
	}
	if got := Render(Span{Text: "x", Link: "https://a\x07b"}); got != "x" {
		t.Errorf("an unsafe address was printed: %q", got)
	}
}

func TestFillAndTabs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Fill(4, "", Span{Text: "ab"}), "ab  "}, {Fill(4, "", Span{Text: "abcdef"}), "abc…"}, {Fill(3, "", Span{Text: "日本"}), "日…"},
		{Tabs("\ta\tb"), "    a   b"}, {Tabs("ab\tc"), "ab  c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
