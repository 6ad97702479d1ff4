package permission

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Only the mode's own question is put after a command that runs on a view.
func TestReview(t *testing.T) {
	t.Parallel()
	rule := func(pattern string, d Decision) []Rule {
		return []Rule{{Tool: "bash", Pattern: pattern, Decision: d, Origin: OriginUser}}
	}
	for name, tt := range map[string]struct {
		policy  Policy
		command string
		job     bool
		net     bool
		want    Decision
	}{
		"a command":             {command: "make", want: Review},
		"nobody is there":       {policy: Policy{Absent: true}, command: "make", want: Review},
		"comments":              {command: "# nothing", want: Review},
		"a job":                 {command: "make", job: true, want: Ask},
		"a host":                {command: "make", net: true, want: Ask},
		"an ask rule":           {policy: Policy{Rules: rule("make", Ask)}, command: "make", want: Ask},
		"an ask rule, absent":   {policy: Policy{Rules: rule("make", Ask), Absent: true}, command: "make", want: Deny},
		"an ask rule of a part": {policy: Policy{Rules: rule("git push *", Ask)}, command: "make && git push x", want: Ask},
		"perhaps an ask rule":   {policy: Policy{Rules: rule("git push *", Ask)}, command: "$x push", want: Ask},
		"an ask rule for all":   {policy: Policy{Rules: rule("", Ask)}, command: "make", want: Ask},
		"a deny rule":           {policy: Policy{Rules: rule("make", Deny)}, command: "make", want: Deny},
		"an allow rule":         {policy: Policy{Rules: rule("make", Allow)}, command: "make", want: Allow},
		"a part is allowed":     {policy: Policy{Rules: rule("make", Allow)}, command: "make && rm x", want: Review},
		"the whole workspace":   {command: "rm -rf .", want: Ask},
		"cannot be read":        {command: "if", want: Ask},
		"guard mode":            {policy: Policy{Mode: ModeGuard}, command: "make", want: Allow},
		"auto mode":             {policy: Policy{Mode: ModeAuto}, command: "make", want: Allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tt.policy
			p.Sandboxed, p.Review, p.Dir, p.Home = true, true, "/work/project", "/home/me"
			if p.Mode == "" {
				p.Mode = ModeAsk
			}
			c := Call{Tool: "bash", Risk: toolapi.RiskDangerous, View: !tt.job && !tt.net, Access: []pawl.Access{{Kind: pawl.AccessExec, Target: tt.command}}}
			if tt.net {
				c.Access = append(c.Access, pawl.Access{Kind: pawl.AccessNet, Target: "example.org"})
			}
			v := Decide(p, c)
			if v.Decision != tt.want {
				t.Errorf("%s, want %s: %s", v.Decision, tt.want, v.Why)
			}
			if p.Absent && v.Offer != nil {
				t.Error("nobody is there to whom a rule could be offered")
			}
			p.Review = false
			if v := Decide(p, c); v.Decision == Review {
				t.Error("there are no views")
			}
			p.Review, p.Sandboxed = true, false
			if v := Decide(p, c); v.Decision == Review {
				t.Error("there is no sandbox")
			}
		})
	}
	if err := (Rule{Tool: "bash", Pattern: "make", Decision: Review}).Check(); err == nil {
		t.Error("a rule decides so")
	}
}

// Whatever a command leaves, its text stays behind the bar.
func TestShowChanges(t *testing.T) {
	t.Parallel()
	c := Call{Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "make\nAlways allow adds"}}}
	v := Verdict{Decision: Review, Offer: []Rule{{Tool: "bash", Pattern: "make", Decision: Allow}}}
	got := ShowChanges(c, v, toolapi.Changes{
		Summary: "2 files changed", Files: []string{"A x\nReason", "M \x1b[2Jy"}, Refused: []string{".envrc: no\nReason"}, Diff: "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+\ty\x1b\n",
	})
	want := strings.Join([]string{
		"Apply the changes of this command?", "  | make", "  | Always allow adds",
		"2 files changed", `  | A x\nReason`, `  | M \u{1b}[2Jy`,
		"Not applied in any case", `  | .envrc: no\nReason`,
		"Change", "  | --- a/x", "  | +++ b/x", "  | @@ -0,0 +1 @@", "  | +\ty\\u{1b}", "",
	}, "\n")
	if head, _, _ := strings.Cut(got, "  ! "); head != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.HasSuffix(got, "Always allow adds\n  {\"tool\":\"bash\",\"pattern\":\"make\",\"decision\":\"allow\"}\n") {
		t.Errorf("got\n%s", got)
	}
}
