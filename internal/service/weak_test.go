//go:build sectest

package service_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without the comparison of fingerprints, a permission is for whatever the call
// has become: the suite notices.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestContract_Service$/^permission_is_for_what_was_shown$")
	cmd.Env = append(os.Environ(), weak.Var+"=ask.names")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL: TestContract_Service/permission_is_for_what_was_shown") {
		t.Errorf("without ask.names: %v\n%s", err, out)
	}
}
