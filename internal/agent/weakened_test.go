//go:build sectest

package agent

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without a look at what may be read, what a call of unknown outcome changed
// shows the model any file; without rules, an agent does what it may not, and a
// person too: the tests of them notice.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.Noticed(t, [][3]string{
		{"unknown.reads", "^TestUnknownOutcomeShowsWhatChanged$/^one_that_may_not_be_read,_then_it_goes_on$", "not for the model"},
		{"agent.rules", "^TestDefinedAgent$/^plan_only$", "written true"},
		{"agent.rules", "^TestDefinedAgent$/^a_rule$", "written true"},
		{"agent.rules", "^TestDefinedAgent$/^an_odd_pattern$", "written true"},
		{"shell.rules", "^TestShellIsPermitted$/^a_rule_that_denies$", "not a git repository"},
		{"rules.trust", "^TestRulesOfAFolderComeOnce$/^not_a_stranger's$", "they came 1 times, want 0"},
		{"rules.trust", "^TestUntrustedProjectIsIgnored$", "the model is told what a stranger says"},
	})
}

// TestWeakenedRoleGuard: an agent that only looks, and has got hold of a tool that
// is not on its list, is refused by the guard of roles. Without the guard too it
// writes.
func TestWeakenedRoleGuard(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("agent.tools")()
	for name, guards := range map[string]goHooks{"guarded": {hook.StrictRoleGuard(nil)}, "unguarded": nil} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{`{"calls":[{"name":"write","input":{"path":"a","content":"x"}}]}`, isDone}})
			w.Hooks = guards
			w.prompt("go", inMode("yolo"), func(p *pawl.Prompted) { p.Agent = "explore" })
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, guards == nil, w.has("a"))
			if got := w.results()[0].Result.Content; guards != nil && !strings.Contains(got, "the role explore may not use write") {
				t.Errorf("the model reads %q", got)
			}
		})
	}
}
