//go:build sectest

package agent

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without a look at what may be read, what a call of unknown outcome changed
// shows the model any file: the test of it notices.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestUnknownOutcomeShowsWhatChanged$/^one_that_may_not_be_read,_then_it_goes_on$")
	cmd.Env = append(os.Environ(), weak.Var+"=unknown.reads")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not for the model") {
		t.Errorf("without unknown.reads: %v\n%s", err, out)
	}
}
