//go:build sectest

package weaktest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Noticed runs the test program again, without each defense in turn, and fails unless
// its tests do. A row is the defense, the tests of it as -test.run takes them, and
// what they say when it is missing.
func Noticed(t *testing.T, rows [][3]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		defense, run, says := row[0], row[1], row[2]
		cmd := exec.Command(self, "-test.run", run)
		cmd.Env = append(os.Environ(), weak.Var+"="+defense)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("without %s: %v\n%s", defense, err, out)
		}
	}
}

// NoticedBy is Noticed by one test, whatever it says.
func NoticedBy(t *testing.T, test string, defenses ...string) {
	t.Helper()
	for _, defense := range defenses {
		Noticed(t, [][3]string{{defense, "^" + strings.ReplaceAll(test, "/", "$/^") + "$", "--- FAIL: " + test}})
	}
}
