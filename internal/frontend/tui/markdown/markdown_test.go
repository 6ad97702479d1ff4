package markdown

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

func stylesOf(t testing.TB, name string) *Styles {
	th, ok := theme.Find(name, nil)
	if !ok {
		t.Fatalf("unknown theme %q", name)
	}
	return NewStyles(theme.New(th))
}

func printed(lines []layout.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dark", "plain"} {
		for _, width := range []int{40, 80, 120} {
			lines := Render(stylesOf(t, name), width, string(source))
			for _, l := range lines {
				if n := ansi.StringWidth(l.Text); n > width {
					t.Errorf("%s %d: a line of %d cells: %q", name, width, n, l.Text)
				}
			}
			compare(t, fmt.Sprintf("testdata/%s-%d.golden", name, width), printed(lines))
		}
	}
}

// compare holds a text to a golden file, with escapes made visible.
func compare(t *testing.T, path, got string) {
	t.Helper()
	got = strings.ReplaceAll(strings.ReplaceAll(got, "\x1b", "␛"), "\x07", "␇")
	uitest.Same(t, path, got)
}

// However a text comes, it looks as if it had come at once.
func TestPiecesMakeTheWhole(t *testing.T) {
	t.Parallel()
	l := stylesOf(t, "dark")
	pieces := []string{
		"# head\n", "a **b** `c`", "\n\n", "\n", "- item\n", "  - in\n", "```go\n", "func x()\n", "```\n", "> q\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n",
		" ", "日", "👍", "\x1b[31m", "\xe2\x82", "*", "---\n", "===\n", "1. x\n", "    code\n", "[t](https://a.test)", "\\",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(t, "pieces"), "")
		d := New(l, 30)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(7, len(rest))).Draw(t, "size")
			d.Write(rest[:n])
			d.Lines()
			rest = rest[n:]
		}
		if diff := cmp.Diff(Render(l, 30, text), d.Lines(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// shapes are texts that could cost more than their length.
var shapes = map[string]string{
	"paragraphs": "Some words of **weight** and `code` in a line that goes on for a while.\nAnother line.\n\n",
	"one line":   "words without an end ",
	"one word":   "abcdefghijklmnopqrstuvwxyz",
	"code":       "",
	"stars":      "*a ",
	"brackets":   "[a](",
	"ticks":      "` `` ``` ",
	"quote":      "> quoted words\n",
	"items":      "- an item\n",
	"rows":       "| a | b |\n",
	"wide":       "日本語",
}

// stream writes a text of a size in pieces of 50 bytes, shown after each, and
// returns how many bytes that took from memory for each byte of the text.
func stream(l *Styles, shape string, size int) float64 {
	text := strings.Repeat(shapes[shape], size/max(1, len(shapes[shape])))
	switch shape {
	case "code":
		text = "```go\n" + strings.Repeat("	return fmt.Sprintf(\"%d\", 42) // a line\n", size/40)
	case "rows":
		text = "| a | b |\n|---|---|\n" + text
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := New(l, 80)
	for at := 0; at < len(text); at += 50 {
		d.Write(text[at:min(len(text), at+50)])
		d.Lines()
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text))
}

// A reply in many pieces costs as much for each byte when it is long as when it
// is short. Memory is counted, because it does not depend on the machine's load.
func TestCostIsLinear(t *testing.T) { //nolint:paralleltest // it measures memory
	l := stylesOf(t, "dark")
	for shape := range shapes {
		small, large := stream(l, shape, 8<<10), stream(l, shape, 64<<10)
		if large > 2*small {
			t.Errorf("%s: %.0f bytes for each byte of 8 KiB, %.0f of 64 KiB", shape, small, large)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	l := stylesOf(b, "dark")
	for shape := range shapes {
		b.Run(strings.ReplaceAll(shape, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				stream(l, shape, 1<<20)
			}
		})
	}
}

func TestLogicalText(t *testing.T) {
	t.Parallel()
	text := "- one two three four five six seven eight nine ten\n\n```\nx := 1234567890123456789012345678901234567890\n```\n"
	want := "• one two three four five six seven eight nine ten\n\nx := 1234567890123456789012345678901234567890"
	if got := layout.Join(Render(stylesOf(t, "dark"), 20, text)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
