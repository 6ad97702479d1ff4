package mission

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate"
)

// Evidence is what a mission's log proves: the latest gate result, with the runs and reviews it is based on.
type Evidence struct {
	Outcome *gate.Outcome   `json:"outcome"` // nil if the gate has not run yet
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
	var base []pawl.CheckRun
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
			switch {
			case b.Round > 0:
				runs[b.Round] = append(runs[b.Round], b.CheckRun)
			case b.On == "base":
				base = append(base, b.CheckRun)
			}
		case pawl.Reviewed:
			reviews[b.Round] = append(reviews[b.Round], b)
		case pawl.GateResult:
			e.Round, e.Reviews = b.Round, reviews[b.Round]
			e.Outcome = &gate.Outcome{Criteria: fixed.Hash(), Base: fixed.Base, Candidate: b.Candidate, Tree: b.Tree, Runs: slices.Concat(base, runs[b.Round]),
				Faults: append([]pawl.GateFault{}, b.Faults...), Suspicions: b.Suspicions, Flaky: b.Flaky, Before: b.Before,
			}
		case pawl.Sealed:
			e.Chain.ends(b.Chain)
		default: // not evidence
		}
	}
	return e, nil
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

// ReviewFromLog serves as Gate.Review when a sealed mission is verified again: it reuses the recorded reviews. Every
// suspicion must have been reviewed on this commit, and cleared; others are reported as faults.
func (e Evidence) ReviewFromLog(_ context.Context, d gate.Report) (found []pawl.GateFault, err error) {
	for _, s := range d.Outcome.Suspicions {
		if !e.cleared(d.Outcome.Candidate, s) {
			found = append(found, pawl.GateFault{Rule: "needs-review", Item: s.Item, Text: s.Text + ": not reviewed"})
		}
	}
	return found, nil
}

func (e Evidence) cleared(candidate string, s pawl.GateFault) bool {
	if e.Outcome == nil || e.Outcome.Candidate != candidate || len(e.Reviews) == 0 {
		return false
	}
	i := slices.Index(e.Outcome.Suspicions, s)
	if i < 0 {
		return false
	}
	id := gate.SuspicionID(i)
	return !slices.ContainsFunc(e.Reviews, func(r pawl.Reviewed) bool {
		return !slices.ContainsFunc(r.Holds, func(j pawl.Judgment) bool { return j.ID == id && j.Holds })
	})
}
