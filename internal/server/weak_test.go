//go:build sectest

package server_test

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
	for _, defense := range []string{"access.tenant", "store.tenant"} {
		cmd := exec.Command(self, "-test.run", "^TestRoutesAreTheTenantsOwn$")
		cmd.Env = append(os.Environ(), weak.Var+"="+defense)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestRoutesAreTheTenantsOwn") {
			t.Errorf("without %s: %v\n%s", defense, err, out)
		}
	}
}
