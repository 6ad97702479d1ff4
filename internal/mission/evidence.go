package mission

import (
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// Evidence is what a mission's log proves: the latest gate result, with the runs and reviews it is based on.
type Evidence struct {
	Proof   *gate.Proof     `json:"proof"` // nil if the gate has not run yet
	Round   int             `json:"round,omitempty"`
	Reviews []pawl.Reviewed `json:"reviews,omitempty"`
	Chain   Chain           `json:"chain"`
}

// Chain is the state of the hash chain over all check runs.
type Chain struct {
	Links int    `json:"links"`
	Head  string `json:"head,omitempty"`
	Fault string `json:"fault,omitempty"` // where the chain is broken; "" if it is intact
}

// ReadEvidence rebuilds the evidence from a log. It recomputes every hash.
func ReadEvidence(events iter.Seq2[pawl.Event, error]) (Evidence, error) {
	var e Evidence
	var fixed pawl.Criteria
	runs, reviews := map[int][]pawl.CheckRun{}, map[int][]pawl.Reviewed{}
	for event, err := range events {
		if err != nil {
			return e, err
		}
		switch b := event.Body.(type) {
		case pawl.CriteriaSet:
			fixed = b.Criteria
		case pawl.CheckRan:
			e.Chain.add(event.Seq, b)
			runs[b.Round] = append(runs[b.Round], b.CheckRun)
		case pawl.Reviewed:
			reviews[b.Round] = append(reviews[b.Round], b)
		case pawl.GateResult:
			e.Round, e.Reviews = b.Round, reviews[b.Round]
			e.Proof = &gate.Proof{Criteria: fixed.Hash(), Base: fixed.Base, Candidate: b.Candidate, Result: experiment.Result{
				Verdict: experiment.Verdict(b.Verdict), Tree: b.Tree, Runs: runs[b.Round], Holding: b.Holding, New: b.New,
				Mutants: experiment.Mutants{Total: b.Mutants, Killed: b.Killed}, Findings: findings(b),
			}}
		case pawl.Sealed:
			e.Chain.ends(b.Chain)
		default: // not evidence
		}
	}
	return e, nil
}

// findings returns the faults and notes of a gate result as findings.
func findings(b pawl.GateResult) []experiment.Finding {
	list := []experiment.Finding{}
	for _, f := range b.Faults {
		list = append(list, experiment.Finding{Kind: experiment.Failure, Rule: f.Rule, Item: f.Item, Text: f.Text})
	}
	for _, f := range b.Notes {
		list = append(list, experiment.Finding{Kind: experiment.Note, Rule: f.Rule, Item: f.Item, Text: f.Text})
	}
	return list
}

// add verifies the next link of the chain.
func (c *Chain) add(at pawl.Seq, b pawl.CheckRan) {
	if c.Fault == "" && (b.Prev != c.Head || b.Link(c.Head).Hash != b.Hash) {
		c.Fault = fmt.Sprintf("event %d (check %s on %s) does not follow from the event before it", at, b.Check, b.On)
	}
	c.Links++
	c.Head = b.Hash
}

// ends compares the end of the chain with the sealed one.
func (c *Chain) ends(head string) {
	if c.Fault == "" && c.Head != head {
		c.Fault = "the sealed hash is not the end of the chain"
	}
}

// Reviewed reports whether a commit has reviews, and none of them found a problem.
func (e Evidence) Reviewed(candidate string) bool {
	return e.Proof != nil && e.Proof.Candidate == candidate && len(e.Reviews) > 0 &&
		!slices.ContainsFunc(e.Reviews, func(r pawl.Reviewed) bool { return len(r.Faults) > 0 })
}
