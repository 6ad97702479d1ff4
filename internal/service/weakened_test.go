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
	for _, name := range []string{"import.close", "import.settings", "import.kinds", "import.place", "import.snapshots"} {
		defensetest.NoticedBy(t, "TestContract_Service/an_import_is_inert", name)
	}
	for _, name := range []string{"import.values", "import.usage"} {
		defensetest.NoticedBy(t, "TestContract_Service/import_refuses_unknown_values", name)
	}
}
