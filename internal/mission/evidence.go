package mission

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate"
)

// Evidence is what a mission's log proves: the newest judgment of the gate, with
// all that it goes by.
type Evidence struct {
	Outcome *gate.Outcome   `json:"outcome"` // nil if the gate has not judged anything yet
	Round   int             `json:"round,omitempty"`
	Reviews []pawl.Reviewed `json:"reviews,omitempty"`
	Chain   Chain           `json:"chain"`
}

// Chain is the chain of evidence, as it was found to be.
type Chain struct {
	Links int    `json:"links"`
	Head  string `json:"head,omitempty"`
	Fault string `json:"fault,omitempty"` // where it breaks; "" if it holds
}

// ReadEvidence rebuilds the evidence from a log. It believes no hash that it has
// not made itself.
func ReadEvidence(events iter.Seq2[pawl.Event, error]) (Evidence, error) {
	var e Evidence
	var frozen pawl.Criteria
	var base []pawl.CheckRun
	runs, reviews := map[int][]pawl.CheckRun{}, map[int][]pawl.Reviewed{}
	for event, err := range events {
		if err != nil {
			return e, err
		}
		switch b := event.Body.(type) {
		case pawl.CriteriaFrozen:
			frozen = b.Frozen
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
			e.Outcome = &gate.Outcome{
				Frozen: frozen.Hash(), Base: frozen.Base, Candidate: b.Candidate, Tree: b.Tree, Runs: slices.Concat(base, runs[b.Round]),
				Faults: append([]pawl.GateFault{}, b.Faults...), Suspicions: b.Suspicions, Flaky: b.Flaky, Before: b.Before,
			}
		case pawl.Sealed:
			e.Chain.ends(b.Chain)
		default: // proves nothing
		}
	}
	return e, nil
}

// add puts the next link to the chain.
func (c *Chain) add(at pawl.Seq, b pawl.CheckRan) {
	if c.Fault == "" && (b.Prev != c.Head || b.Link(c.Head).Hash != b.Hash) {
		c.Fault = fmt.Sprintf("event %d, the check %s on %s, does not follow from the one before", at, b.Check, b.On)
	}
	c.Links++
	c.Head = b.Hash
}

// ends holds the chain against what was sealed.
func (c *Chain) ends(head string) {
	if c.Fault == "" && c.Head != head {
		c.Fault = "what was sealed is not where the chain ends"
	}
}

// Vouch is the review of a gate that is asked once more: what reviewers have judged
// before is taken as judged. Each suspicion must have been there when they looked
// at this very commit, and have held; others need somebody to look at them.
func (e Evidence) Vouch(_ context.Context, d gate.Dossier) (found []pawl.GateFault, err error) {
	for _, s := range d.Outcome.Suspicions {
		if !e.judged(d.Outcome.Candidate, s) {
			found = append(found, pawl.GateFault{Rule: "needs-review", Item: s.Item, Text: s.Text + ": no reviewer has judged this"})
		}
	}
	return found, nil
}

func (e Evidence) judged(candidate string, s pawl.GateFault) bool {
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
