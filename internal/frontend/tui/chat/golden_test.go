package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// Every kind of entry, as it is shown when nobody has touched it and when all is
// open.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, build := range samples {
		for _, themeName := range []string{"dark", "plain"} {
			for _, width := range []int{80, 120} {
				tl := newEventBuilder()
				build(tl)
				v := viewOf(t, tl, themeName, width, 40)
				usual := text(all(v))
				v.ToggleAll()
				got := usual + strings.Repeat("=", width) + "\n" + text(all(v))
				for line := range strings.SplitSeq(got, "\n") {
					if n := ansi.StringWidth(line); n > width {
						t.Errorf("%s %s %d: a line of %d cells: %q", name, themeName, width, n, line)
					}
				}
				compare(t, fmt.Sprintf("testdata/%s-%s-%d.golden", name, themeName, width), got)
			}
		}
	}
}

// compare holds a text to a golden file, with escapes made visible.
func compare(t *testing.T, path, got string) {
	t.Helper()
	got = strings.ReplaceAll(strings.ReplaceAll(got, "\x1b", "␛"), "\x07", "␇")
	uitest.Same(t, path, got)
}
