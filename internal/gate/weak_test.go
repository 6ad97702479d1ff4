//go:build sectest

package gate

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// TestDefensesMatter: without a defense the tests of it would fail.
func TestDefensesMatter(t *testing.T) {
	t.Run("gate.hidden", func(t *testing.T) {
		defer weak.Set("gate.hidden")()
		if ran := seen(t); !ran.OK() || !strings.HasPrefix(ran.Tail, "42\nref: ") {
			t.Errorf("nothing is seen: %q", ran.Tail)
		}
	})
}
