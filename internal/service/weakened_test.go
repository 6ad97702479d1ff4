//go:build sectest

package service_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without the comparison of fingerprints, a permission is for whatever the call
// has become: the suite notices.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.NoticedBy(t, "TestContract_Service/permission_is_for_what_was_shown", "ask.names")
}
