//go:build sectest

package access_test

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
	for defense, test := range map[string]string{
		"access.owner":     "TestEveryMethodIsGuarded",
		"access.always":    "TestNothingIsPermittedForOthers",
		"access.import":    "TestImportIsOnesOwn",
		"access.revoked":   "TestRevocation",
		"access.folder":    "TestFoldersAreTheTenantsOwn",
		"access.suspended": "TestSuspension",
		"access.fleet":     "TestTenantsNeedAFleet",
		"access.shared":    "TestTenantsLimits",
	} {
		cmd := exec.Command(self, "-test.run", "^"+test+"$")
		cmd.Env = append(os.Environ(), weak.Var+"="+defense)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: "+test) {
			t.Errorf("without %s: %v\n%s", defense, err, out)
		}
	}
}
