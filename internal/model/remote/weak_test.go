//go:build sectest

package remote

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/weak"
)

// Without the token anybody asks, and without masks keys get out: the tests of them
// notice.
func TestDefensesMatter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ weak, run, says string }{
		{"gateway.token", "^TestToken$/^another$", "want it to pass: false"},
		{"gateway.token", "^TestToken$", "a gateway without a token"},
		{"gateway.redact", "^TestSecretsStay$", "the-key-itself"},
	} {
		cmd := exec.Command(self, "-test.run", test.run)
		cmd.Env = append(os.Environ(), weak.Var+"="+test.weak)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.says) {
			t.Errorf("without %s: %v\n%s", test.weak, err, out)
		}
	}
}
