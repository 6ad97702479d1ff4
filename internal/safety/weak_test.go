//go:build sectest

package safety

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without another look, what has just come to a trusted folder is trusted.
func TestWeakenedLookAgain(t *testing.T) {
	defer weak.Set("skill.anew")()
	if !comesLater(t, false) {
		t.Error("it is not: the test shows nothing")
	}
}

// Without their box, a project's hooks write outside the workspace: the test of
// it notices.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestHookRunner$/^a_project's$")
	cmd.Env = append(os.Environ(), weak.Var+"=hook.box")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "written true, want false") {
		t.Errorf("without hook.box: %v\n%s", err, out)
	}
}
