package telemetry

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// A mission is one trace: its workers' spans are below the turn of its Commander. The
// results of tasks are counted.
func TestMission(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL}})
	w.write(session, 0, pawl.SessionCreated{Dir: "/w"}, pawl.MissionStarted{}, pawl.Prompted{Parts: said("go")})
	w.write(session, 1,
		pawl.TurnStarted{Prompt: 3},
		pawl.CheckRan{CheckRun: pawl.CheckRun{Code: 1}},
		pawl.TaskStarted{Task: "one", Attempt: 1, Worker: subagent},
		pawl.ReviewStarted{Round: 1, Reviewer: "01JD0000000000000000000002"},
	)
	for _, id := range []pawl.SessionID{subagent, "01JD0000000000000000000002"} {
		w.write(id, 0, pawl.SessionCreated{Dir: "/w", Parent: session}, pawl.Prompted{Parts: said("work")})
		w.write(id, 1, pawl.TurnStarted{Prompt: 2}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
	}
	w.write(session, 1,
		pawl.TaskReturned{Task: "one", Attempt: 1, Why: pawl.ReturnCheck},
		pawl.TaskMerged{Task: "one", Attempt: 2},
		pawl.CheckRan{}, pawl.CheckRan{}, pawl.Blocked{}, pawl.Sealed{},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
	)
	w.close()
	want := "invoke_agent 4+18\n  invoke_agent 10+1\n  invoke_agent 14+1\n"
	if diff := cmp.Diff(want, tree(r.spans)); diff != "" {
		t.Error(diff)
	}
	var got []string
	for name, label := range map[string]string{"pawl.missions": keyMission, "pawl.mission.tasks": keyTask, "pawl.mission.checks": keyPassed} {
		for _, p := range r.metrics[name].GetSum().GetDataPoints() {
			got = append(got, fmt.Sprint(name, " ", attr(p.GetAttributes(), label), " ", p.GetAsDouble()))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"pawl.mission.checks false 1", "pawl.mission.checks true 2", "pawl.mission.tasks check 1", "pawl.mission.tasks merged 1",
		"pawl.missions begun 1", "pawl.missions blocked 1", "pawl.missions sealed 1",
	}, got); diff != "" {
		t.Error(diff)
	}
}
