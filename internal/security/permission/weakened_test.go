//go:build sectest

package permission

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the list of owners, skills of anyone are installed without a question.
func TestWeakenedOwner(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.owner")()
	if v := Decide(Policy{Mode: ModeGuard, Dir: "/work"}, access(pawl.AccessSkill, "github.com/mallory/tools")); v.Decision != Allow {
		t.Errorf("%s: the test shows nothing", v.Why)
	}
}
