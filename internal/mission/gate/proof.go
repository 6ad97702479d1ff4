package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// Proof is what experiments tell about a candidate.
type Proof struct {
	Criteria  string `json:"criteria"` // hash of the criteria
	Base      string `json:"base"`
	Candidate string `json:"candidate"`
	experiment.Result
}

// Has reports whether the proof has findings of a kind.
func (p Proof) Has(k experiment.Kind) bool {
	return slices.ContainsFunc(p.Findings, func(f experiment.Finding) bool { return f.Kind == k })
}

// Notes returns what a reviewer should look at.
func (p Proof) Notes() []pawl.GateFault { return faultsOf(p.Findings, experiment.Note) }

// Faults returns what keeps a mission from being sealed: all that the experiments found, unless it is a note, and criteria
// without evidence.
func (p Proof) Faults(f pawl.Criteria) []pawl.GateFault {
	found := faultsOf(p.Findings, experiment.Failure, experiment.Question, experiment.Gap)
	for i := range found {
		if found[i].Rule == "survivors" {
			found[i].Text += ":\n" + p.survivors()
		}
	}
	if p.Verdict == experiment.NoCode && !p.turned() {
		found = append(found, pawl.GateFault{Rule: "nothing-proven", Text: "no code has changed, and no check that failed on the base passes now, so nothing shows that the goal is reached: " +
			"plan the code and the tests that show it, or block, so that the user names a check that fails until the goal is reached"})
	}
	if p.Verdict == experiment.Failed {
		return found // criteria come later
	}
	for _, c := range f.Criteria {
		if missing := p.missing(c); missing != "" {
			found = append(found, pawl.GateFault{Rule: "no-evidence", Item: c.ID, Text: fmt.Sprintf("criterion %s has no evidence: %s", c.ID, missing)})
		}
	}
	return found
}

// turned reports whether a check that failed on the base passes on the candidate.
func (p Proof) turned() bool {
	for id, r := range p.OnHead {
		if was, ok := p.OnBase[id]; ok && !was.OK() && r.OK() {
			return true
		}
	}
	return false
}

// missing returns what a criterion lacks of the evidence that it names, or "".
func (p Proof) missing(c pawl.Criterion) string {
	for _, id := range c.Checks {
		if r, ok := p.OnHead[id]; !ok || !r.OK() {
			return fmt.Sprintf("check %s does not pass", id)
		}
	}
	for _, pattern := range c.Tests {
		if !p.passes(pattern) {
			return fmt.Sprintf("no test %s passes", pattern)
		}
	}
	return ""
}

// passes reports whether tests match a pattern, by their whole name or the part after the last separator, and all pass.
func (p Proof) passes(pattern string) bool {
	found := false
	for _, r := range p.OnHead {
		if r.Tests == nil {
			continue
		}
		for name, status := range r.Tests.Tests {
			if !match(pattern, name) && !match(pattern, inventory.Leaf(name)) {
				continue
			}
			if status != inventory.Passed {
				return false
			}
			found = true
		}
	}
	return found
}

// survivors lists mutants that no check noticed.
func (p Proof) survivors() string {
	var b strings.Builder
	for i, s := range p.Mutants.Survived {
		if i == maxSurvivors {
			fmt.Fprintf(&b, "and %d more\n", len(p.Mutants.Survived)-i)
			break
		}
		fmt.Fprintf(&b, "%s:%d: %s: %s\n", s.Path, s.Line, s.Operator, strings.TrimSpace(s.After))
	}
	return b.String()
}

// faultsOf returns the findings of some kinds.
func faultsOf(findings []experiment.Finding, kinds ...experiment.Kind) (list []pawl.GateFault) {
	for _, f := range findings {
		if slices.Contains(kinds, f.Kind) {
			list = append(list, pawl.GateFault{Rule: f.Rule, Item: f.Item, Text: f.Text})
		}
	}
	return list
}
