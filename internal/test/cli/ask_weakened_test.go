//go:build sectest && e2e && linux

package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the dwell, what was typed before the question answers it: the test
// that it does not could fail.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	b, x := typedEarly(t, "sectest", "y\n", defense.Var+"=ask.dwell")
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "x\n" {
		t.Error("nothing was written: the switch takes nothing out")
	}
}
