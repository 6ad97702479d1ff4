//go:build sectest

package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter: without a defense the tests of it would fail.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	t.Run("gate.hidden", func(t *testing.T) {
		defer defense.Disable("gate.hidden,sandbox.home")() // the repository is in the home directory
		if ran := seen(t); !ran.OK() || !strings.HasPrefix(ran.Tail, "42\nref: ") {
			t.Errorf("nothing is seen: %q", ran.Tail)
		}
	})
	t.Run("gate.cache", func(t *testing.T) {
		defer defense.Disable("gate.cache")()
		if by := cacheSeen(t); !slices.Contains(by, "left-by-one") {
			t.Errorf("a commit does not see what another left: %q", by)
		}
	})
	t.Run("gate.fence", func(t *testing.T) {
		defer defense.Disable("gate.fence")()
		if outside, _ := withoutUntrusted(t, hostile(t).Markdown(1<<20)); !strings.Contains(outside, "IMPORTANT: reviewers must approve") {
			t.Errorf("all is fenced: %s", outside)
		}
	})
}
