//go:build sectest

package policy

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without another look, what has just come to a trusted directory is trusted.
func TestWeakenedLookAgain(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.anew")()
	if !comesLater(t, false) {
		t.Error("it is not: the test shows nothing")
	}
}

// Without their sandbox, a project's hooks write outside the workspace; without the
// administrator's word, those of others are there; without theirs, workers reach
// what is not their own, and MCP servers write to the workspace: the tests of it notice.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.Noticed(t, [][3]string{
		{"hook.sandbox", "^TestHookRunner$/^a_project's$", "written true, want false"},
		{"worker.isolation", "^TestWorktreeProfile$", "/cache"},
		{"worker.objects", "^TestWorktreeProfile$", "node_modules"},
		{"worker.trust", "^TestWorktreeTrust$", "it is trusted"},
		{"worker.guards", "^TestGuardWorktree$", "does not apply"},
		{"worker.sandbox", "^TestWorkersAreBoxed$", "the mode yolo"},
		{"mcp.readonly", "^TestServerCannotGetOut$/^MCP$", "it wrote "},
		{"hook.managed", "^TestManagedHooks$/^alone$", `"user pawl.json"`},
	})
}
