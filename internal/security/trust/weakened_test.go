//go:build sectest

package trust_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: without the gate every directory is trusted.
func TestWeakened(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("trust")()
	s := trust.Store{Path: filepath.Join(tempDir(t), "trust.json")}
	if got, err := s.Approved("/none", "mcp", "x", one); got != trust.Trusted || err != nil || stateOf(t, s, "/none", one) != trust.Trusted {
		t.Errorf("%s, %v", got, err)
	}
}
