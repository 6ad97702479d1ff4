// Package defensetest shows that tests notice when a defense is missing.
package defensetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Noticed runs the test program again without each defense in turn, and fails
// unless the tests of that defense do. A row has the defense, its tests as
// -test.run takes them, and a text that must be in their output.
func Noticed(t *testing.T, rows [][3]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		name, run, want := row[0], row[1], row[2]
		cmd := exec.Command(self, "-test.run", run) //nolint:gosec // this very program
		cmd.Env = append(os.Environ(), defense.Var+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("without %s: %v\n%s", name, err, out)
		}
	}
}

// NoticedBy is Noticed for defenses that one test covers; its output does not
// matter.
func NoticedBy(t *testing.T, test string, defenses ...string) {
	t.Helper()
	for _, name := range defenses {
		Noticed(t, [][3]string{{name, "^" + strings.ReplaceAll(test, "/", "$/^") + "$", "--- FAIL: " + test}})
	}
}
