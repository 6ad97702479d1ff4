//go:build sectest

package acp

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the defense the fence can be closed from within: the test that it
// cannot could fail.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("acp.fence")()
	if text := fence("```\nnot code"); strings.HasPrefix(text, "````") {
		t.Errorf("the switch takes nothing out: %q", text)
	}
}
