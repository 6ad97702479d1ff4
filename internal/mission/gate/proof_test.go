package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// A mission is sealed by evidence: a change without it is not.
func TestProofFaults(t *testing.T) {
	t.Parallel()
	failing := ranTests("base")
	failing.Code = 1
	for name, test := range map[string]struct {
		base, head checkrun.Result
		change     func(p *Proof, f *pawl.Criteria)
		want       []string
	}{
		"proven":                        {change: func(*Proof, *pawl.Criteria) {}},
		"a note":                        {change: found(experiment.Note)},
		"a failure":                     {change: found(experiment.Failure), want: []string{"rule item"}},
		"a question":                    {change: found(experiment.Question), want: []string{"rule item"}},
		"a gap":                         {change: found(experiment.Gap), want: []string{"rule item"}},
		"no code":                       {change: noCode, want: []string{"nothing-proven "}},
		"no code, a check passes now":   {base: failing, change: noCode},
		"no code, a check always fails": {base: failing, head: failing, change: noCode, want: []string{"nothing-proven "}},
		"a check that passes":           {change: criterion(pawl.Criterion{ID: "C1", Checks: []string{"test"}})},
		"a check that fails":            {base: failing, head: failing, change: criterion(pawl.Criterion{ID: "C1", Checks: []string{"test"}}), want: []string{"no-evidence C1"}},
		"a check that did not run":      {change: criterion(pawl.Criterion{ID: "C1", Checks: []string{"other"}}), want: []string{"no-evidence C1"}},
		"a test by its name":            {change: criterion(pawl.Criterion{ID: "C1", Tests: []string{"TestNew"}})},
		"a test by its whole name":      {change: criterion(pawl.Criterion{ID: "C1", Tests: []string{"p::Test*"}})},
		"no such test":                  {change: criterion(pawl.Criterion{ID: "C1", Tests: []string{"TestNew", "TestOther"}}), want: []string{"no-evidence C1"}},
		"a test that is skipped": {change: func(p *Proof, f *pawl.Criteria) {
			p.OnHead["test"].Tests.Tests["p::TestNew"] = inventory.Skipped
			criterion(pawl.Criterion{ID: "C1", Tests: []string{"TestNew"}})(p, f)
		}, want: []string{"no-evidence C1"}},
	} {
		base, head := test.base, test.head
		if base.Check == "" {
			base = ranTests("base")
		}
		if head.Check == "" {
			head = ranTests("candidate", "p::TestNew")
		}
		p, f := Proof{Result: results(base, head)}, pawl.Criteria{}
		test.change(&p, &f)
		if diff := cmp.Diff(test.want, rules(p.Faults(f))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func found(k experiment.Kind) func(*Proof, *pawl.Criteria) {
	return func(p *Proof, _ *pawl.Criteria) {
		p.Findings = []experiment.Finding{{Kind: k, Rule: "rule", Item: "item"}}
	}
}

func noCode(p *Proof, _ *pawl.Criteria) { p.Verdict = experiment.NoCode }

func criterion(c pawl.Criterion) func(*Proof, *pawl.Criteria) {
	return func(_ *Proof, f *pawl.Criteria) { f.Criteria = []pawl.Criterion{{ID: "goal"}, c} }
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true}, {"a*b*c", "a--b--c", true},
		{"a*b*c", "ac", false}, {"ab*ba", "aba", false}, {"**", "x", true}, {"*b*", "aac", false},
	} {
		if got := match(test.pattern, test.name); got != test.want {
			t.Errorf("%q, %q: %v", test.pattern, test.name, got)
		}
	}
}

func TestProtects(t *testing.T) {
	t.Parallel()
	f := pawl.Criteria{Protected: []string{"Makefile", "vendor/", "a/*.txt"}}
	for name, want := range map[string]bool{
		".pawl/config.json": true, "x/.pawl": true, "a/../.pawl/x": true, "../x": true, "/x": true, "": false, "main.go": false, "x/Makefile": true, "Makefile.am": false,
		"src/vendor/x.go": true, "vendors/x.go": false, "vendor": true, "a/b.txt": true, "b/a/b.txt": false,
	} {
		if got := Protects(f, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
