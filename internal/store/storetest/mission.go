package storetest

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// missionSamples has the samples that are about missions.
var missionSamples = []pawl.Body{
	pawl.MissionStarted{By: pawl.Actor{User: "ada"}, Order: pawl.MissionOrder{
		Goal: "see <a> & b", Criteria: []pawl.Criterion{{ID: "AC-1", Category: "c", Text: "t", Checks: []string{"go-test"}}},
		Checks:    []pawl.Check{{ID: "go-test", Kind: pawl.CheckTest, Args: []string{"go", "test"}, Dir: "d", Env: []string{"A=b"}, Network: []string{"h"}, Timeout: time.Second, Tests: "gotest", Report: "r"}},
		Protected: []string{"*.mk"}, Approval: pawl.Approval{Tests: []string{"t"}}, Workers: 2, Model: "m", Reviewers: []string{"r"}, Stuck: time.Minute,
	}},
	pawl.Planned{By: "commander", Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "one", Title: "t", Detail: "d", Files: []string{"a/"}, After: []string{"zero"}, Accept: []string{"x"}, Size: "S"}}}},
	pawl.CriteriaSet{Hash: "sha256:ab", Branch: "pawl/b", Criteria: pawl.Criteria{Base: "c0", Checks: []pawl.Check{}, Tools: map[string]string{"/bin/go": "sha256:cd"}}},
	pawl.Delegated{Tasks: []string{"one"}},
	pawl.TaskStarted{Task: "one", Attempt: 1, Worker: "01JD0000000000000000000001", Base: "c0", From: "c1"},
	pawl.TaskMerged{Task: "one", Attempt: 1, Commit: "c2"},
	pawl.TaskReturned{Task: "one", Attempt: 1, Why: pawl.ReturnCheck, Text: "it fails", Base: "c0", From: "c1"},
	pawl.CheckRan{Round: 1, Task: "one", CheckRun: pawl.CheckRun{
		Check: "go-test", On: "candidate", Tree: "t1", Args: []string{"go"}, Env: "sha256:e", Code: 1, Fault: "f", Duration: time.Second,
		Output: "sha256:o", Tail: "FAIL", Tests: &pawl.TestCount{Passed: 1, Failed: 2, Skipped: 3, Broken: 4},
	}}.Link("sha256:p"),
	pawl.ReviewStarted{Round: 1, Reviewer: "01JD0000000000000000000002", Model: "m"},
	pawl.Reviewed{Round: 1, Reviewer: "01JD0000000000000000000002", Holds: []pawl.Judgment{{ID: "AC-1", Holds: true, Why: "w"}}, Faults: []pawl.GateFault{{Rule: "r", Item: "i", Text: "t"}}},
	pawl.GateResult{
		Round: 1, Candidate: "c2", Tree: "t1", Verdict: "checked", Holding: 3, New: 1, Mutants: 4, Killed: 2,
		Faults: []pawl.GateFault{{Rule: "r", Text: "t"}}, Notes: []pawl.GateFault{{Rule: "s", Text: "t"}},
	},
	pawl.Blocked{Reason: "no key", By: "commander"},
	pawl.Sealed{Round: 1, Candidate: "c2", Tree: "t1", Criteria: "sha256:ab", Chain: "sha256:ef", Reviewed: 1, Total: 2},
}

// listMissions checks that lists can select the sessions with a mission.
func listMissions(t *testing.T, s store.Store) {
	begun := pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "go"}}
	plain := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w/a"})
	first := createAt(t, s, 2, pawl.SessionCreated{Dir: "/w/a", Owner: "ada"}, begun)
	second := createAt(t, s, 3, pawl.SessionCreated{Dir: "/w/b"}, begun, pawl.Prompted{})
	subagent := createAt(t, s, 4, pawl.SessionCreated{Dir: "/w/a", Parent: first})

	listed(t, s, pawl.Filter{}, second, first, plain)
	listed(t, s, pawl.Filter{Missions: true}, second, first)
	listed(t, s, pawl.Filter{Missions: true, Dir: "/w/a"}, first)
	listed(t, s, pawl.Filter{Missions: true, Unfinished: true}, second)
	listed(t, s, pawl.Filter{Missions: true, Owner: new(pawl.User("ada"))}, first)
	listed(t, s, pawl.Filter{Missions: true, Parent: first})
	listed(t, s, pawl.Filter{Parent: first}, subagent)

	head := pawl.Seq(3)
	for _, step := range []struct {
		body pawl.Body
		want pawl.MissionState
	}{
		{pawl.Planned{}, pawl.MissionWorking},
		{pawl.CallStarted{Call: "c"}, pawl.MissionWorking},
		{pawl.Replied{Usage: pawl.Usage{Input: 1}}, pawl.MissionWorking},
		{pawl.Blocked{Reason: "r"}, pawl.MissionBlocked},
		{pawl.CallStarted{Call: "c"}, pawl.MissionBlocked},
		{pawl.SessionTitled{Title: "t"}, pawl.MissionBlocked},
		{pawl.GateResult{}, pawl.MissionWorking},
		{pawl.Blocked{Reason: "r", State: pawl.MissionPaused}, pawl.MissionPaused},
		{pawl.Blocked{Reason: "r", State: pawl.MissionPlanned}, pawl.MissionPlanned},
		{pawl.Prompted{}, pawl.MissionPlanned},
		{pawl.Prompted{Approve: &pawl.Plan{}}, pawl.MissionWorking},
		{pawl.Sealed{}, pawl.MissionSealed},
		{pawl.TurnFinished{}, pawl.MissionSealed},
	} {
		appended(t, s, second, head, event(step.body))
		head++
		equal(t, "the mission after "+string(pawl.KindOf(step.body)), row(t, s, second).Mission, step.want)
		equal(t, "of another", row(t, s, first).Mission, pawl.MissionWorking)
	}
}

// TakesMissions checks a migrated store: the session that an earlier version wrote,
// with the given head, has no mission, and others can have one.
func TakesMissions(t *testing.T, s store.Store, id pawl.SessionID, head pawl.Seq) {
	t.Helper()
	listed(t, s, pawl.Filter{Missions: true})
	appended(t, s, id, head, event(pawl.SessionTitled{Title: "old"}))
	equal(t, "the mission of an old session", row(t, s, id).Mission, "")
	begun := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w"}, pawl.MissionStarted{})
	listed(t, s, pawl.Filter{Missions: true}, begun)
}
