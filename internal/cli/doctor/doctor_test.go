package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/app/inventory"
)

// TestFaultsAreBounded checks that the number of reported faults is limited, and that the last
// finding names the command that lists the others.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "", 1: "warn\x1b", shownFaults: "warn\x1b", shownFaults + 1: "and 1 more", 500: "and 480 more"} {
		v := &inventory.Inventory{}
		for range n {
			v.Faults = append(v.Faults, inventory.Fault{Kind: inventory.Skills, Text: "warn\x1b"})
		}
		findings := faultFindings(v)
		if len(findings) != min(n, shownFaults+1) {
			t.Errorf("%d faults are %d findings", n, len(findings))
		}
		if n == 0 {
			continue
		}
		f := Finding{Name: "skills", Status: Warn, Detail: strings.ReplaceAll(want, "\x1b", `\u{1b}`)}
		if n > shownFaults {
			f.Fix = "Run `pawl extensions list skills` to see all."
		}
		if diff := cmp.Diff(f, findings[len(findings)-1]); diff != "" {
			t.Errorf("of %d faults the last: %s", n, diff)
		}
	}
}
