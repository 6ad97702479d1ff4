package permission

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// checkLaws holds a decision to what must be true of all of them.
func checkLaws(t interface{ Errorf(string, ...any) }, p Policy, c Call) {
	v := Decide(p, c)
	got := v.Decision
	fault := func(law string, other Decision) {
		t.Errorf("%s: %s, then %s\npolicy %+v\ncall %+v\nwhy %s", law, got, other, p, c, v.Why)
	}
	if v.Why == "" || !slices.Contains([]Decision{Allow, Ask, Deny}, got) {
		t.Errorf("%+v: %+v", c, v)
	}
	for _, f := range v.Findings {
		if sanitize.FirstStrange(v.Why+f.Why+f.What()) != "" {
			t.Errorf("%+v: %q, %q", c, v.Why, f.Why)
		}
		if Stricter(got, f.Decision) != got {
			fault("the strictest finding wins", f.Decision)
		}
	}

	// Nobody to ask: what was asked is denied, nothing else changes.
	absent := p
	absent.Absent = true
	if d := Decide(absent, c).Decision; d == Ask || (d == Allow) != (got == Allow) || p.Absent && d != got {
		fault("absent", d)
	}
	// A sandbox never makes it stricter.
	bare := p
	bare.Sandboxed = false
	if d := Decide(bare, c).Decision; Stricter(d, got) != d {
		fault("without the sandbox", d)
	}
	// Modes in the order of what they allow. Plan is apart: its commands run where they can change nothing.
	for _, chain := range [][]Mode{{ModeAsk, ModeAuto, ModeGuard, ModeYolo}, {ModePlan, ModeAuto}, {ModeGuard, ModeAuto}} {
		allowed := false
		for _, mode := range chain {
			q := p
			q.Mode = mode
			d := Decide(q, c).Decision
			if allowed && d != Allow {
				fault("a looser mode: "+string(mode), d)
			}
			allowed = d == Allow
		}
	}
	// What allows can be taken away; what a project allows counts for nothing.
	less := p
	less.Grants = nil
	less.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r Rule) bool { return r.Decision == Allow })
	if d := Decide(less, c).Decision; Stricter(d, got) != d {
		fault("without what allows", d)
	}
	// The order does not matter.
	turned := p
	turned.Rules, turned.Grants = slices.Clone(p.Rules), slices.Clone(p.Grants)
	slices.Reverse(turned.Rules)
	slices.Reverse(turned.Grants)
	back := c
	back.Access = slices.Clone(c.Access)
	slices.Reverse(back.Access)
	if d := Decide(turned, back).Decision; d != got {
		fault("turned around", d)
	}
	// What "always" adds is enough, and may be added.
	if got != Ask && v.Offer != nil {
		t.Errorf("%s is offered for %s", v.Offer, got)
	}
	if v.Offer != nil {
		more := p
		more.Grants = slices.Clone(p.Grants)
		for _, r := range v.Offer {
			if err := Offerable(r); err != nil {
				t.Errorf("%s is offered: %v", r, err)
			}
			more.Grants = append(more.Grants, Grant{Rule: r, Scope: ScopeProject, Dir: p.Dir})
		}
		if d := Decide(more, c).Decision; d != Allow {
			fault("with what was offered", d)
		}
	}
}

// checkTightening: more deny rules, and more accesses, never loosen.
func checkTightening(t interface{ Errorf(string, ...any) }, p Policy, c Call, rule Rule, a pawl.Access) {
	before := Decide(p, c)
	for _, decision := range []Decision{Ask, Deny} {
		q := p
		rule.Decision = decision
		q.Rules = append(slices.Clone(p.Rules), rule)
		if after := Decide(q, c); Stricter(before.Decision, after.Decision) != after.Decision {
			t.Errorf("%s made %s of %s\npolicy %+v\ncall %+v", rule, after.Decision, before.Decision, p, c)
		}
	}
	rule.Decision, rule.Origin = Allow, OriginProject
	q := p
	q.Rules = append(slices.Clone(p.Rules), rule)
	if after := Decide(q, c); after.Decision != before.Decision {
		t.Errorf("the project's %s made %s of %s\npolicy %+v\ncall %+v", rule, after.Decision, before.Decision, p, c)
	}
	more := c
	more.Access = append(slices.Clone(c.Access), a)
	if c.Risk != toolapi.RiskSafe && slices.ContainsFunc(before.Findings, func(f Finding) bool { return f.Access == pawl.Access{Target: c.Tool} }) {
		return // what it touches was not known, and is now
	}
	if after := Decide(p, more); Stricter(before.Decision, after.Decision) != after.Decision {
		t.Errorf("%s made %s of %s\npolicy %+v\ncall %+v", a, after.Decision, before.Decision, p, c)
	}
}

var (
	someKinds   = []pawl.AccessKind{pawl.AccessRead, pawl.AccessWrite, pawl.AccessExec, pawl.AccessEscape, pawl.AccessNet}
	someTools   = []string{"bash", "edit", "webfetch", "mcp_x"}
	someTargets = map[pawl.AccessKind][]string{
		pawl.AccessRead:   {"a", "a/b", "/srv/a", "~/a", ".git/config", "", ".."},
		pawl.AccessWrite:  {"a", "A", "a/b", "/srv/a", "~/a", ".git/config", "", ".", "/"},
		pawl.AccessExec:   {"ls", "ls a", "LS a", "ls $x", "ls a && go vet", "sudo ls a", "bash -c 'ls a'", "$x", "ls &&", "rm -rf /", "# a", "ls > a", "python a", "git push -f"},
		pawl.AccessEscape: {"ls", "ls a", "make", "ls &&"},
		pawl.AccessNet:    {"x.org", "a.x.org", "X.org:22", "u@x.org", "", "127.0.0.1"},
		"odd":             {"a"},
	}
	somePatterns = map[pawl.AccessKind][]string{
		pawl.AccessRead:   {"", "a", "a/", "**", "/srv/**", "~/a", "["},
		pawl.AccessWrite:  {"", "a", "a/", "**", "/srv/**", "~/a", ".git/**", "["},
		pawl.AccessExec:   {"", "*", "ls", "ls *", "ls a", "go vet", "sudo *", "python *", "git push *", "a; b"},
		pawl.AccessEscape: {"", "*", "ls", "ls *"},
		pawl.AccessNet:    {"", "*", "x.org", "*.x.org", "x.org:22", "a*"},
	}
)

func drawAccess(t *rapid.T) pawl.Access {
	kind := rapid.SampledFrom(append(someKinds, "odd")).Draw(t, "kind")
	return pawl.Access{Kind: kind, Target: rapid.SampledFrom(someTargets[kind]).Draw(t, "target")}
}

func drawRule(t *rapid.T) Rule {
	r := Rule{
		Decision: rapid.SampledFrom([]Decision{Allow, Allow, Ask, Deny}).Draw(t, "decision"),
		Origin:   rapid.SampledFrom([]Origin{OriginUser, OriginUser, OriginProject, ""}).Draw(t, "origin"),
	}
	if rapid.Bool().Draw(t, "by kind") {
		r.Kind = rapid.SampledFrom(someKinds).Draw(t, "kind")
		r.Pattern = rapid.SampledFrom(somePatterns[r.Kind]).Draw(t, "pattern")
	}
	if r.Kind == "" || rapid.Bool().Draw(t, "by tool") {
		r.Tool = rapid.SampledFrom(someTools).Draw(t, "tool")
	}
	return r
}

func drawPolicy(t *rapid.T) Policy {
	p := Policy{
		Mode:      rapid.SampledFrom([]Mode{ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo, "odd"}).Draw(t, "mode"),
		Sandboxed: rapid.Bool().Draw(t, "boxed"), Absent: rapid.Bool().Draw(t, "absent"),
		Dir: "/work/project", Home: "/home/me", Session: "S",
		Rules: rapid.SliceOfN(rapid.Custom(drawRule), 0, 4).Draw(t, "rules"),
	}
	for _, r := range rapid.SliceOfN(rapid.Custom(drawRule), 0, 3).Draw(t, "granted") {
		r.Decision = Allow
		p.Grants = append(p.Grants, Grant{Rule: r, Scope: ScopeProject, Dir: p.Dir})
	}
	return p
}

func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		c := Call{
			Tool: rapid.SampledFrom(someTools).Draw(t, "tool"), Risk: rapid.SampledFrom([]toolapi.Risk{toolapi.RiskSafe, toolapi.RiskModerate, toolapi.RiskDangerous, "odd"}).Draw(t, "risk"),
			Access: rapid.SliceOfN(rapid.Custom(drawAccess), 0, 4).Draw(t, "access"),
		}
		checkLaws(t, p, c)
		checkTightening(t, p, c, drawRule(t), drawAccess(t))
	})
}
