package doctor

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestFaultsAreBounded checks that the number of reported faults is limited, and that the last
// finding names the command that lists the others.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "", 1: "warn\x1b", shownFaults: "warn\x1b", shownFaults + 1: "and 1 more: pawl x list", 500: "and 480 more: pawl x list",
	} {
		g := itemGroup{Kind: "x", Show: "pawl x list"}
		for range n {
			g.Faults = append(g.Faults, "warn\x1b")
		}
		findings := faultFindings([]itemGroup{{Kind: "none"}, g})
		if len(findings) != min(n, shownFaults+1) {
			t.Errorf("%d faults are %d findings", n, len(findings))
		}
		if n == 0 {
			continue
		}
		last := findings[len(findings)-1]
		if diff := cmp.Diff(Finding{Name: "x", Status: Warn, Detail: strings.ReplaceAll(want, "\x1b", `\u{1b}`)}, last); diff != "" {
			t.Errorf("of %d faults the last: %s", n, diff)
		}
	}
}

// TestShellQuote checks that a shell reads a quoted path as the path itself.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/a/b-c_1.x": "/a/b-c_1.x", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/$(x)": "'/$(x)'", "/ü": "'/ü'"} {
		if got := shellQuote(path); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "path")
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(path)).Output() //nolint:gosec // that is the point
		if err != nil || string(out) != path {
			t.Errorf("%q is read as %q: %v", path, out, err)
		}
	})
}
