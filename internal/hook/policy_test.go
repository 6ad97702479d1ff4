package hook_test

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestAllowAndRules: what a command's allow does to what the real rules say.
func TestAllowAndRules(t *testing.T) {
	t.Parallel()
	rule := func(decision permission.Decision, origin permission.Origin) []permission.Rule {
		return []permission.Rule{{Tool: "bash", Kind: pawl.AccessExec, Pattern: "git push *", Decision: decision, Origin: origin}}
	}
	for _, test := range []struct {
		name   string
		mode   permission.Mode
		rules  []permission.Rule
		layer  hook.Layer
		script string
		want   hook.Decision
	}{
		{"the user's allow answers an ask", permission.ModeAsk, nil, hook.LayerUser, allow("PreToolUse"), hook.Allow},
		{"the project's does not", permission.ModeAsk, nil, hook.LayerProject, allow("PreToolUse"), hook.Ask},
		{"no allow loosens a deny rule", permission.ModeGuard, rule(permission.Deny, permission.OriginUser), hook.LayerUser, allow("PreToolUse"), hook.Deny},
		{"nor one of the project's", permission.ModeGuard, rule(permission.Deny, permission.OriginProject), hook.LayerManaged, allow("PreToolUse"), hook.Deny},
		{"ask makes what is allowed asked for", permission.ModeGuard, nil, hook.LayerProject, decides("PreToolUse", "ask"), hook.Ask},
		{"deny refuses what is allowed", permission.ModeGuard, rule(permission.Allow, permission.OriginUser), hook.LayerProject, decides("PreToolUse", "deny"), hook.Deny},
		{"silence leaves it", permission.ModeGuard, nil, hook.LayerUser, "exit 0", hook.Allow},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			verdict := permission.Decide(permission.Policy{Mode: test.mode, Rules: test.rules, Sandboxed: true, Dir: w.dir}, permission.Call{
				Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "git push origin"}},
			})
			x := hook.External{Point: hook.ToolBefore, Command: test.script, CanAllow: true, Origin: hook.Origin{Layer: test.layer}}
			hooks, _ := hook.Outside{Runner: w.runner, Trusted: true}.Hooks([]hook.External{x})
			o := w.run(w.sample("PreToolUse"), hooks...)
			if got := (hook.Ruling{Decision: hook.Decision(verdict.Decision)}).With(o.Decision); got != test.want {
				t.Errorf("%s by the rules (%s), %q by the hook: %s, want %s", verdict.Decision, verdict.Why, o.Decision, got, test.want)
			}
		})
	}
}
