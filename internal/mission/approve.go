package mission

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// needsApproval tells the Commander that it cannot start unapproved tasks. It says nothing about how to approve them:
// only the user can.
const needsApproval = "The user has to approve the plan before these tasks can start. Nothing that you do starts them. End your reply now."

// unapproved reports whether one of the tasks must be approved first.
func unapproved(m *pawl.Mission, ids []string) bool {
	return slices.ContainsFunc(m.Unapproved(), func(t pawl.TaskState) bool { return slices.Contains(ids, t.Task.ID) })
}

// awaitsApproval reports whether the mission cannot continue before a person approves its plan.
func awaitsApproval(m *pawl.Mission) bool {
	return len(m.Unapproved()) > 0 && len(m.In(pawl.PhaseRunning)) == 0
}

func approvalReason(m *pawl.Mission) string {
	return fmt.Sprintf("the plan waits for approval: %s", humanize.Plural(len(m.Unapproved()), "task"))
}
