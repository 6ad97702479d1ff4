package permission

import (
	"strings"
	"testing"
	"time"
)

// TestHugeCommands: however long and deep, it is read or refused soon.
func TestHugeCommands(t *testing.T) {
	const size = 64 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	p := Policy{Mode: ModeGuard, Boxed: true, Dir: "/w", Rules: user(
		Rule{Tool: "bash", Pattern: "git push x y z *", Decision: Deny}, Rule{Tool: "bash", Pattern: "rm *", Decision: Ask}, Rule{Tool: "bash", Pattern: "a *", Decision: Allow})}
	for _, text := range []string{
		fill("("), fill("$("), fill("`"), fill("if "), fill("{ "), fill("a|") + "a", fill("a "), fill("\"$("), fill("${a:-"), "((" + fill("(") + "1",
		fill("case a in a) ("), fill("f() "), fill("\\\n"), fill("a <<b\n\nb\n"), fill("time "), fill("a=b "), fill(">a "), fill("{a,b}"), fill("\u202e"),
		"bash -c '" + fill("a;") + "'", "eval " + fill("eval "), "sudo " + fill("-ab "), "env " + fill("'a b' "), fill("bash -c 'rm x';"), fill("cd a;"),
		"rm -rf " + fill("a/* "), "git " + fill("-c a=b "), fill("eval \"eval \\\"eval a\\\"\";"),
	} {
		began := time.Now()
		Decide(p, bash(text))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.20q… took %s", text, took)
		}
	}
}
