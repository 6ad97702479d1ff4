//go:build sectest

package postgres_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without a defense, the test of it fails.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestTenantsTakeTurns$")
	cmd.Env = append(os.Environ(), weak.Var+"=store.tenant")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL: TestTenantsTakeTurns") {
		t.Errorf("without store.tenant: %v\n%s", err, out)
	}
}
