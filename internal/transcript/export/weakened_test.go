//go:build sectest

package export_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without one of the defenses, texts get out of their place: the test notices.
func TestDefensesMatter(t *testing.T) {
	t.Setenv("RAPID_NOFAILFILE", "true")
	defensetest.NoticedBy(t, "TestNothingEscapes", "export.html", "export.fence", "sanitize")
}
