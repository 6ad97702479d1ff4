package gate

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxVerdict bounds a reviewer's verdict, in bytes.
const maxVerdict = 256 << 10

// Verdict is a reviewer's assessment. It can add faults, but not remove any.
type Verdict struct {
	Criteria []Judgment `json:"criteria" jsonschema:"one judgment for each criterion, by its id"`
	Problems []string   `json:"problems" jsonschema:"other problems of the change: the problem, its place, and what to do; empty if none"`
}

// Judgment is a reviewer's assessment of one criterion.
type Judgment = pawl.Judgment

// ReadVerdict parses a verdict. It rejects unknown and duplicate keys, whose content would be ignored.
func ReadVerdict(data []byte) (Verdict, error) {
	var v Verdict
	if len(data) > maxVerdict {
		return v, fault.New(pawl.ErrInvalid, "read the verdict: too long (%d bytes, the limit is %d)", len(data), maxVerdict)
	}
	if err := strictjson.Decode(data, &v); err != nil {
		return Verdict{}, fault.New(pawl.ErrInvalid, "read the verdict: %w: it must be an object with criteria and problems", err)
	}
	for key, missing := range map[string]bool{"criteria": v.Criteria == nil, "problems": v.Problems == nil} {
		if missing {
			return Verdict{}, fault.New(pawl.ErrInvalid, "read the verdict: %s is missing: write an empty list if it has no entries", key)
		}
	}
	return v, nil
}

// faults collects the reasons why a candidate does not pass.
type faults []pawl.GateFault

func (f *faults) add(rule, item, format string, args ...any) {
	*f = append(*f, pawl.GateFault{Rule: rule, Item: item, Text: fmt.Sprintf(format, args...)})
}

// Faults returns the faults of a verdict. Each criterion needs exactly one judgment with a reason; otherwise the
// verdict is unreliable.
func (d Report) Faults(v Verdict) []pawl.GateFault {
	var f faults
	var ids []string
	for _, c := range d.Criteria.Criteria {
		ids = append(ids, c.ID)
	}
	f.addJudgments(ids, v.Criteria)
	for _, problem := range v.Problems {
		if problem = strings.TrimSpace(problem); problem == "" {
			f.add("review-unreadable", "", "the reviewer reported a problem without a description")
		} else {
			f.add("review", "", "the reviewer found a problem: %s", problem)
		}
	}
	return f
}

// addJudgments checks the judgments against the ids they must cover.
func (f *faults) addJudgments(ids []string, judgments []Judgment) {
	wanted, given := map[string]int{}, map[string]int{}
	for _, id := range ids {
		wanted[id]++
	}
	for _, j := range judgments {
		given[j.ID]++
	}
	reported := map[string]bool{}
	for _, id := range ids {
		if (given[id] != 1 || wanted[id] != 1) && !reported[id] {
			reported[id] = true
			f.add("review-unreadable", id, "criterion %q has %d judgments instead of one", id, given[id])
		}
	}
	for _, j := range judgments {
		why := strings.TrimSpace(j.Why)
		switch {
		case wanted[j.ID] == 0:
			f.add("review-unreadable", j.ID, "the reviewer named an unknown criterion %q: use the ids of the report", j.ID)
		case why == "":
			f.add("review-unreadable", j.ID, "the judgment on criterion %q has no reason", j.ID)
		}
		if !j.Holds && why != "" {
			f.add("review", j.ID, "the reviewer rejected criterion %q: %s", j.ID, why)
		}
	}
}
