//go:build sectest

package snapshot

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter: the tests of a defense fail without it.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	t.Run("links", func(t *testing.T) {
		defer defense.Disable("snapshot.links")()
		if outside, err := linkedAbove(t); outside["f"] == "-rw-r--r-- theirs\n" {
			t.Errorf("%v, %v", outside, err)
		}
	})
	t.Run("meanwhile", func(t *testing.T) {
		defer defense.Disable("snapshot.meanwhile")()
		w := newEnv(t)
		w.sh("echo 1 >f")
		first := w.span("echo 2 >f")
		w.sh("echo mine >f")
		second := w.span("echo 3 >>f")
		if list := w.plan(false, first, second).Conflicts(); len(list) > 0 {
			t.Errorf("%+v", list)
		}
	})
	t.Run("verify", func(t *testing.T) {
		defer defense.Disable("snapshot.verify")()
		if w, _, err := lastMoment(t, "echo mine >d/f", Refuse); w.read("d/f") == "mine\n" {
			t.Error(err)
		}
	})
}
