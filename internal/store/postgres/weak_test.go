//go:build sectest

package postgres_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/weak/weaktest"
)

// Without a defense, the test of it fails.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	weaktest.NoticedBy(t, "TestTenantsTakeTurns", "store.tenant")
}
