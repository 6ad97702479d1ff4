//go:build sectest

package postgres_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// TestDefensesMatter checks that without a defense its test fails.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.NoticedBy(t, "TestTenantsTakeTurns", "store.tenant")
}
