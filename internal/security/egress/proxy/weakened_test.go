//go:build sectest

package proxy

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter takes the defense of each attack out and makes it again:
// then it gets through, or the test of it would prove nothing.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	for _, a := range attacks {
		t.Run(a.defense+"/"+a.name, func(t *testing.T) {
			defer defense.Disable(a.defense)()
			if answer, _, through := a.through(t); !through {
				t.Errorf("without %s it still fails: %q", a.defense, answer)
			}
		})
	}
}
