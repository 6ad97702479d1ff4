//go:build sectest

package runner

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter checks that the tests of a defense fail without it.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("fleet.root")()
	if in, lost := reach(newTestHosts(t), outside["another's folder"]); !in || !lost {
		t.Errorf("it got in: %v; what is another's is gone: %v", in, lost)
	}
}
