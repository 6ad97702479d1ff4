package pawl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/fault"
)

const maxGoal = 32 << 10

// checkKinds are the valid kinds of checks.
var checkKinds = []CheckKind{CheckSetup, CheckBuild, CheckLint, CheckTypes, CheckTest, CheckOther}

// Complete returns the order with defaults for what it leaves out.
func (o MissionOrder) Complete() MissionOrder {
	if o.Workers == 0 {
		o.Workers = MissionWorkers
	}
	if o.Stuck == 0 {
		o.Stuck = MissionStuck
	}
	o.Checks = slices.Clone(o.Checks)
	for i, c := range o.Checks {
		if c.Kind == "" {
			o.Checks[i].Kind = CheckOther
		}
	}
	return o
}

// Check returns all errors in an order.
func (o MissionOrder) Check() error {
	var faults []error
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch goal := strings.TrimSpace(o.Goal); {
	case goal == "":
		addf("the goal is missing: say what must be true at the end")
	case len(o.Goal) > maxGoal:
		addf("the goal is too long (%d bytes, the limit is %d): put the details into a file and name it", len(o.Goal), maxGoal)
	}
	if o.Workers < 0 || o.Workers > MissionMaxWorkers {
		addf("invalid number of workers %d: use 1 to %d, or 0 for the default (%d)", o.Workers, MissionMaxWorkers, MissionWorkers)
	}
	if len(o.Reviewers) > MaxReviewers {
		addf("too many reviewers (%d): use at most %d", len(o.Reviewers), MaxReviewers)
	}
	if slices.Contains(o.Reviewers, "") {
		addf("a reviewer has no model: name one, or remove the reviewer")
	}
	if o.Stuck < 0 {
		addf("invalid stuck time %s: use a positive duration", o.Stuck)
	}
	if n := max(len(o.Criteria), len(o.Checks), len(o.Protected), len(o.Approval.Tests)); n > maxTaskList {
		addf("a list has too many entries (%d, the limit is %d)", n, maxTaskList)
	}
	faults = append(faults, o.checkChecks()...)
	faults = append(faults, o.checkCriteria()...)
	if len(faults) > 0 {
		return fault.New(ErrInvalid, "invalid mission: %w", errors.Join(faults...))
	}
	return nil
}

func (o MissionOrder) checkChecks() (faults []error) {
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	known := map[string]bool{}
	for _, c := range o.Checks {
		if !taskID.MatchString(c.ID) {
			addf("invalid check id %.40q: use at most 32 letters, digits, dots and dashes", c.ID)
		}
		if known[c.ID] {
			addf("duplicate check %.40q", c.ID)
		}
		known[c.ID] = true
		if len(c.Args) == 0 || c.Args[0] == "" {
			addf("check %.40s has no command", c.ID)
		}
		if c.Kind != "" && !slices.Contains(checkKinds, c.Kind) {
			addf("check %.40s has unknown kind %.40q: use setup, build, lint, types, test or other", c.ID, c.Kind)
		}
		if c.Timeout < 0 {
			addf("check %.40s has invalid timeout %s: use a positive duration", c.ID, c.Timeout)
		}
	}
	return faults
}

// checkCriteria cannot verify references to checks that the project defines: those
// are verified once they are known.
func (o MissionOrder) checkCriteria() (faults []error) {
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	known := map[string]bool{}
	for _, c := range o.Criteria {
		if !taskID.MatchString(c.ID) {
			addf("invalid criterion id %.40q: use at most 32 letters, digits, dots and dashes", c.ID)
		}
		if known[c.ID] {
			addf("duplicate criterion %.40q", c.ID)
		}
		known[c.ID] = true
		if text := strings.TrimSpace(c.Text); text == "" || len(c.Text) > maxTaskText {
			addf("criterion %.40s needs a text of at most %d bytes", c.ID, maxTaskText)
		}
		for _, id := range c.Checks {
			if len(o.Checks) > 0 && !slices.ContainsFunc(o.Checks, func(k Check) bool { return k.ID == id }) {
				addf("criterion %.40s names check %.40q, which does not exist", c.ID, id)
			}
		}
	}
	return faults
}
