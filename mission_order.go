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
		addf("it needs a goal: say what is to be true in the end")
	case len(o.Goal) > maxGoal:
		addf("the goal has %d bytes, of %d that are possible: put the details into a file and name that", len(o.Goal), maxGoal)
	}
	if o.Workers < 0 || o.Workers > MissionMaxWorkers {
		addf("%d workers are not possible: 1 to %d are, 0 means %d", o.Workers, MissionMaxWorkers, MissionWorkers)
	}
	if len(o.Reviewers) > MaxReviewers {
		addf("%d reviewers are too many: name %d at most", len(o.Reviewers), MaxReviewers)
	}
	if slices.Contains(o.Reviewers, "") {
		addf("a reviewer has no model: name one, or leave the reviewer out")
	}
	if o.Stuck < 0 {
		addf("a worker cannot be stuck after %s: name a time from now on", o.Stuck)
	}
	if n := max(len(o.Criteria), len(o.Checks), len(o.Protected), len(o.Approval.Files), len(o.Approval.Tests)); n > maxTaskList {
		addf("a list of it has %d entries, of %d that are possible: make it shorter", n, maxTaskList)
	}
	faults = append(faults, o.checkChecks()...)
	faults = append(faults, o.checkCriteria()...)
	if len(faults) > 0 {
		return fault.New(ErrInvalid, "the mission: %w", errors.Join(faults...))
	}
	return nil
}

func (o MissionOrder) checkChecks() (faults []error) {
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	known := map[string]bool{}
	for _, c := range o.Checks {
		if !taskID.MatchString(c.ID) {
			addf("%.40q cannot be a check's id: use letters, digits, dots and dashes, 32 at most", c.ID)
		}
		if known[c.ID] {
			addf("there are two checks %.40q", c.ID)
		}
		known[c.ID] = true
		if len(c.Args) == 0 || c.Args[0] == "" {
			addf("the check %.40s needs a command", c.ID)
		}
		if c.Kind != "" && !slices.Contains(checkKinds, c.Kind) {
			addf("the check %.40s is of the kind %.40q, which nobody knows: use setup, build, lint, types, test or other", c.ID, c.Kind)
		}
		if c.Timeout < 0 {
			addf("the check %.40s cannot end after %s: name a time from now on", c.ID, c.Timeout)
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
			addf("%.40q cannot be a criterion's id: use letters, digits, dots and dashes, 32 at most", c.ID)
		}
		if known[c.ID] {
			addf("there are two criteria %.40q", c.ID)
		}
		known[c.ID] = true
		if text := strings.TrimSpace(c.Text); text == "" || len(c.Text) > maxTaskText {
			addf("the criterion %.40s needs a text, of at most %d bytes", c.ID, maxTaskText)
		}
		for _, id := range c.Checks {
			if len(o.Checks) > 0 && !slices.ContainsFunc(o.Checks, func(k Check) bool { return k.ID == id }) {
				addf("the criterion %.40s needs the check %.40q, and there is no such check", c.ID, id)
			}
		}
	}
	return faults
}
