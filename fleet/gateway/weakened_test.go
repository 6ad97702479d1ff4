//go:build sectest

package gateway

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without the token anybody asks, and without masks keys get out: the tests of them
// notice.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.Noticed(t, [][3]string{
		{"gateway.token", "^TestToken$/^another$", "want it to pass: false"},
		{"gateway.token", "^TestToken$", "a gateway without a token"},
		{"gateway.redact", "^TestSecretsStay$", "the-key-itself"},
	})
}
