package permission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// TestHugeCommands checks that long and deeply nested commands are parsed or rejected quickly.
func TestHugeCommands(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	p := Policy{Mode: ModeGuard, Sandboxed: true, Dir: "/w", Rules: user(
		Rule{Tool: "bash", Pattern: "git push x y z *", Decision: Deny}, Rule{Tool: "bash", Pattern: "rm *", Decision: Ask}, Rule{Tool: "bash", Pattern: "a *", Decision: Allow})}
	for _, text := range []string{
		fill("("), fill("$("), fill("`"), fill("if "), fill("{ "), fill("a|") + "a", fill("a "), fill("\"$("), fill("${a:-"), "((" + fill("(") + "1",
		fill("case a in a) ("), fill("f() "), fill("\\\n"), fill("a <<b\n\nb\n"), fill("time "), fill("a=b "), fill(">a "), fill("{a,b}"), fill("\u202e"),
		"bash -c '" + fill("a;") + "'", "eval " + fill("eval "), "sudo " + fill("-ab "), "env " + fill("'a b' "), fill("bash -c 'rm x';"), fill("cd a;"),
		"rm -rf " + fill("a/* "), "git " + fill("-c a=b "), fill("eval \"eval \\\"eval a\\\"\";"),
	} {
		began := time.Now()
		Decide(p, bash(text))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%.20q… took %s", text, took)
		}
	}
}

// TestRulesThatDoNotMatch: a search asks about each file that it finds, so a
// rule that is about another file must cost no more than to see that it is.
func TestRulesThatDoNotMatch(t *testing.T) { //nolint:paralleltest // it counts allocations
	const rules, each = 100, 12 // allocations: paths are folded and matched
	p := Policy{Mode: ModeYolo, Dir: "/project", Sandboxed: true}
	for i := range rules {
		p.Rules = append(p.Rules, Rule{Kind: pawl.AccessRead, Pattern: fmt.Sprintf("/secret/%d", i), Decision: Deny, Origin: OriginPawl})
	}
	j := newDecider(p, Call{Tool: "grep"})
	allocs := testing.AllocsPerRun(10, func() { j.access(pawl.Access{Kind: pawl.AccessRead, Target: "a.txt"}) })
	if allocs > rules*each {
		t.Errorf("a file costs %.0f allocations beside %d rules that are not about it, at most %d each", allocs, rules, each)
	}
	for _, f := range j.findings {
		if f.Decision != Allow {
			t.Fatalf("%s: %s", f.Decision, f.Why)
		}
	}
}
