//go:build sectest

package checkpoint

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter checks that the tests of a defense fail without it.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	t.Run("links", func(t *testing.T) {
		defer defense.Disable("checkpoint.links")()
		if kept, err := savedThroughLink(t); kept["work/d/f"].Sum != sumOf("secret") {
			t.Errorf("%v, %v", kept, err)
		}
		if text, err := restoredThroughLink(t); text != "theirs" {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("hardlinks", func(t *testing.T) {
		defer defense.Disable("checkpoint.hardlinks")()
		if mode := secondName(t); mode != 0o777 {
			t.Error(mode)
		}
	})
	t.Run("paths", func(t *testing.T) {
		defer defense.Disable("checkpoint.paths")()
		if got := reachesOut(t); got != "planted" {
			t.Errorf("%q", got)
		}
	})
	t.Run("verify", func(t *testing.T) {
		defer defense.Disable("checkpoint.verify")()
		if text, err := spoiled(t); text != "theirs" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
