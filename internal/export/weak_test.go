//go:build sectest

package export_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without one of the defenses, texts get out of their place: the test notices.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"export.html", "export.fence", "plain"} {
		cmd := exec.Command(self, "-test.run", "^TestNothingEscapes$", "-rapid.nofailfile")
		cmd.Env = append(os.Environ(), weak.Var+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestNothingEscapes") {
			t.Errorf("without %s: %v\n%s", name, err, out)
		}
	}
}
