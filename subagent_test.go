package pawl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestSubagent checks that the team of a mission counts as subagents, so that their
// questions are shown too.
func TestSubagent(t *testing.T) {
	t.Parallel()
	task := pawl.Spawned{Call: "c1", Subagent: "a", Agent: "explore", Title: "look"}
	for _, c := range []struct {
		body pawl.Body
		want pawl.Spawned
	}{
		{task, task},
		{pawl.TaskStarted{Task: "T1", Attempt: 2, Worker: "b"}, pawl.Spawned{Subagent: "b", Agent: "worker", Title: "T1", Background: true}},
		{pawl.ReviewStarted{Round: 3, Reviewer: "c"}, pawl.Spawned{Subagent: "c", Agent: "reviewer", Title: "review of round 3", Background: true}},
		{pawl.TaskMerged{Task: "T1"}, pawl.Spawned{}},
	} {
		got, ok := pawl.Event{Body: c.body}.Subagent()
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want.Subagent != "") {
			t.Errorf("%T: %v\n%s", c.body, ok, diff)
		}
	}
}
