package hook_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

func TestStrictRoleGuard(t *testing.T) {
	t.Parallel()
	roles := map[string]hook.Role{
		"planner": {Tools: []string{"read", "write"}, Writes: []string{"docs/**", "*.md"}},
		"tester":  {Tools: []string{"read", "bash"}},
	}
	with := map[string]hook.Role{hook.AnyRole: {Tools: []string{"read"}}}
	w := newEnv(t)
	for _, test := range []struct {
		agent, tool, write string
		roles              map[string]hook.Role
		want               string // part of the reason; "" means that it may
	}{
		{"planner", "read", "", roles, ""},
		{"planner", "bash", "", roles, "the role planner may not use bash. It has: read, write."},
		{"planner", "write", "docs/a/b.txt", roles, ""},
		{"planner", "write", w.dir + "/docs/a", roles, ""},
		{"planner", "write", "plan.md", roles, ""},
		{"planner", "write", "src/plan.md", roles, "may not write src/plan.md. It may write: docs/**, *.md."},
		{"planner", "write", "docs/../main.go", roles, "may not write"},
		{"planner", "write", "/etc/docs/a", roles, "may not write"},
		{"planner", "write", "../x.md", roles, "may not write"},
		{"tester", "bash", "", roles, ""},
		{"tester", "read", "a", roles, "may not write"},
		{"stranger", "read", "", roles, "has no role here"},
		{"stranger", "read", "", with, ""},
		{"stranger", "write", "", with, "may not use write"},
	} {
		e := hook.Event{Point: hook.ToolBefore, Dir: w.dir, Agent: test.agent, Tool: test.tool}
		if test.write != "" {
			e.Access = []pawl.Access{{Kind: pawl.AccessRead, Target: "x"}, {Kind: pawl.AccessWrite, Target: test.write}}
		}
		o := w.run(e, hook.StrictRoleGuard(test.roles))
		if o.Block != (test.want != "") || !strings.Contains(o.Reason, test.want) {
			t.Errorf("%s calls %s %s: %q, want %q", test.agent, test.tool, test.write, o.Reason, test.want)
		}
	}
}
