package permission

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestFurtherDirectories: a further project directory is decided on like the workspace, but
// relative rules that allow, and grants, are about the workspace only.
func TestFurtherDirectories(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Kind: pawl.AccessWrite, Pattern: "secret/**", Decision: Deny, Origin: OriginUser},
		{Kind: pawl.AccessRead, Pattern: "**/.env", Decision: Ask, Origin: OriginPawl},
		{Kind: pawl.AccessWrite, Pattern: "src/**", Decision: Allow, Origin: OriginUser},
	}
	for _, tt := range []struct {
		mode Mode
		kind pawl.AccessKind
		path string
		want Decision
	}{
		{ModeGuard, pawl.AccessRead, "/more/a", Allow},
		{ModeGuard, pawl.AccessWrite, "/more/a", Allow},
		{ModeGuard, pawl.AccessWrite, "/more", Ask},
		{ModeGuard, pawl.AccessWrite, "/more/.git", Ask},
		{ModeGuard, pawl.AccessWrite, "/more/.git/hooks/pre-commit", Ask},
		{ModeGuard, pawl.AccessWrite, "/more/secret/a", Deny},
		{ModeGuard, pawl.AccessRead, "/more/.env", Ask},
		{ModeGuard, pawl.AccessRead, "/moreover/a", Ask},
		{ModeGuard, pawl.AccessRead, "/", Ask},
		{ModeAsk, pawl.AccessWrite, "src/a", Allow},
		{ModeAsk, pawl.AccessWrite, "/more/src/a", Ask},
		{ModePlan, pawl.AccessWrite, "/more/a", Deny},
	} {
		p := Policy{Mode: tt.mode, Rules: rules, Sandboxed: true, Dir: "/work/ws", Dirs: []string{"/more"}, Home: "/home/u"}
		v := Decide(p, Call{Tool: "write", Access: []pawl.Access{{Kind: tt.kind, Target: tt.path}}})
		if v.Decision != tt.want {
			t.Errorf("%s: %s %s: %s (%s), want %s", tt.mode, tt.kind, tt.path, v.Decision, v.Why, tt.want)
		}
	}
}
