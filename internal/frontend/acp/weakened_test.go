//go:build sectest

package acp

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter checks that text can close its code block when the defense is off.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("acp.fence")()
	if text := codeBlock("```\nnot code"); strings.HasPrefix(text, "````") {
		t.Errorf("the switch takes nothing out: %q", text)
	}
}
