package servicetest

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/store"
)

// PlannedMission writes the log of a mission whose plan waits for approval, with a round
// of the gate that failed. The text of hostile is in its goal, its plan and its evidence.
func PlannedMission(t testing.TB, st store.Store, dir, model, hostile string) pawl.SessionID {
	t.Helper()
	check := pawl.Check{ID: "true", Kind: pawl.CheckTest, Args: []string{"true"}}
	order := pawl.MissionOrder{Goal: "Be done. " + hostile, Checks: []pawl.Check{check}, ApprovePlan: true}.Complete()
	criteria := pawl.Criteria{Base: "1f0c2d7", Checks: order.Checks, Tools: map[string]string{}, Criteria: []pawl.Criterion{{ID: "C1", Text: "It is done. " + hostile}}}
	ran := func(on string, round int, prev string) pawl.CheckRan {
		return pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "true", On: on, Tree: "4b825dc6", Args: check.Args, Tail: hostile}, Round: round}.Link(prev)
	}
	base := ran("base", 0, "")
	faults := []pawl.GateFault{{Rule: "test-deleted", Item: "TestIt", Text: hostile}}
	at := time.Date(2026, 11, 18, 6, 0, 0, 0, time.UTC)
	var events []pawl.Event
	for _, b := range []pawl.Body{
		pawl.SessionCreated{Dir: dir},
		pawl.MissionStarted{Order: order},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: order.Goal}}, Settings: pawl.Settings{Agent: missionapi.AgentCommander, Model: model, Mode: "guard"}},
		pawl.TurnStarted{Prompt: 3},
		pawl.Planned{By: "planner", Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "T1", Title: "Do it", Files: []string{"a.txt"}, Detail: hostile}}}},
		pawl.CriteriaSet{Criteria: criteria, Hash: criteria.Hash(), Branch: "pawl/mission"},
		base,
		ran("candidate", 1, base.Hash),
		pawl.ReviewStarted{Round: 1, Reviewer: "01JD0000000000000000000002"},
		pawl.Reviewed{Round: 1, Reviewer: "01JD0000000000000000000002", Holds: []pawl.Judgment{{ID: "C1", Holds: true, Why: hostile}}},
		pawl.GateResult{Round: 1, Candidate: criteria.Base, Tree: "4b825dc6", Verdict: "failed", Faults: faults},
		pawl.Blocked{Reason: "The plan waits for approval.", By: "pawl", State: pawl.MissionPlanned},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
	} {
		turn := 0
		if len(events) >= 3 {
			turn = 1
		}
		events = append(events, pawl.Event{At: at, Turn: turn, Body: b})
	}
	id := pawl.SessionID(ulid.Make().String())
	if _, err := st.Append(t.Context(), id, 0, events...); err != nil {
		t.Fatal(err)
	}
	return id
}
