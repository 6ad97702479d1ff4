package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

const sample = `rename from a/store.go
rename to b/store.go
--- a/store.go
+++ b/store.go
@@ -8,6 +8,7 @@ func Open(path string) (*Store, error) {
 	if path == "" {
-		return nil, errors.New("no path") // which?
+		return nil, fmt.Errorf("open %q: no path", path) // now it says what is missing, in a line that is longer than any screen would like
+		/* more
 	}
 	db, err := sql.Open("sqlite", path)
-	old := 1
@@ -120,3 +121,3 @@
 日本語
-gone
+come
\ No newline at end of file
`

func stylesOf(name string) *Styles {
	t, _ := theme.Find(name, nil)
	return NewStyles(theme.New(t))
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dark", "plain"} {
		for _, width := range []int{60, 80, 120} {
			var b strings.Builder
			for _, l := range Render(stylesOf(name), width, "store.go", sample) {
				if n := ansi.StringWidth(l.Text); n > width {
					t.Errorf("%s %d: a line of %d cells: %q", name, width, n, l.Text)
				}
				b.WriteString(strings.ReplaceAll(l.Text, "\x1b", "␛") + "\n")
			}
			compare(t, fmt.Sprintf("testdata/%s-%d.golden", name, width), b.String())
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	uitest.Same(t, path, got)
}

func TestCount(t *testing.T) {
	t.Parallel()
	if added, removed := Count(sample); added != 3 || removed != 3 {
		t.Errorf("got +%d -%d, want +3 -3", added, removed)
	}
}

// Whatever stands for a diff is shown within its width, and steers nothing.
func TestAnything(t *testing.T) {
	t.Parallel()
	l := stylesOf("plain")
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"@@ -1 +1 @@", "@@ -5,2 +6 @@ x", "@@ -99999999999999999999 +x @@", "+a\x1b[2J", "-b\r", " c\u202e", "\\ no", "", "garbage", "+\t日本語👩‍💻" + strings.Repeat("x", 90), "--- a", "+++ b", "+\xff\x9b",
		}), 0, 12).Draw(t, "lines")
		width := rapid.SampledFrom([]int{20, 60, 130}).Draw(t, "width")
		for _, line := range Render(l, width, "a.go", strings.Join(lines, "\n")) {
			if n := ansi.StringWidth(line.Text); n > width {
				t.Fatalf("%d cells, want at most %d: %q", n, width, line.Text)
			}
			if text := ansi.Strip(line.Text); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
				t.Fatalf("it steers: %q", text)
			}
		}
	})
}
