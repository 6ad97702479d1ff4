//go:build sectest

package gateway

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// TestDefensesMatter checks that tests fail if the token is not checked or secrets are not masked.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.Noticed(t, [][3]string{
		{"gateway.token", "^TestToken$/^another$", "want it to pass: false"},
		{"gateway.token", "^TestToken$", "a gateway without a token"},
		{"gateway.redact", "^TestSecretsStay$", "the-key-itself"},
	})
}
