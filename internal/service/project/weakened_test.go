//go:build sectest

package project_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the defense the same attacks succeed, so the tests would notice if it
// were missing.
func TestWeakenedReadable(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("project.readable")()
	for _, words := range []string{"@.env", "/c"} {
		if !leaks(t, words) {
			t.Errorf("%s: the test does not notice", words)
		}
	}
}
