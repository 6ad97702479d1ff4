//go:build sectest

package node

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter_Sources checks that without the defense a host fetches from its own network, so that
// TestSourcesAreOutside can fail.
func TestDefensesMatter_Sources(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("fleet.source")()
	for _, source := range []string{"https://127.0.0.1/shop.git", "file:///srv/shop.git"} {
		if got, err := newSources(nil).find(t.Context(), source); err != nil {
			t.Errorf("%+v, %v: the switch takes nothing out", got, err)
		}
	}
}
