package pawl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	taskOne, taskTwo = Task{ID: "one", Title: "One"}, Task{ID: "two", Title: "Two"}
	approver         = Actor{User: "ada", Token: "t", Scope: "approve"}
)

// plannedMission returns a mission whose plan waits for approval, up to the end of its first turn.
func plannedMission() []Body {
	return []Body{
		SessionCreated{Dir: "/project"},
		MissionStarted{Order: MissionOrder{Goal: "go", ApprovePlan: true}},
		Prompted{Parts: Parts{Text{"go"}}},
		TurnStarted{Prompt: 3},
		sampleCriteria(),
		Planned{Plan: Plan{Tasks: []Task{taskOne, taskTwo}}, By: "commander"},
		Delegated{Tasks: []string{"one"}},
		Blocked{Reason: "the plan waits for approval: 2 tasks", By: "pawl", State: MissionPlanned},
		TurnFinished{Reason: ReasonEndTurn},
	}
}

// started returns that a worker starts a task for the first time.
func started(task string) Body {
	return TaskStarted{Task: task, Attempt: 1, Worker: workerA, Base: "c0", From: "c0"}
}

func turnOf(seq Seq, p Prompted) []Body {
	p.Parts = Parts{Text{"The plan is approved. Start."}}
	return []Body{p, TurnStarted{Prompt: seq}}
}

// TestApproval checks which tasks can start: only those that a prompt has approved as they are.
func TestApproval(t *testing.T) {
	t.Parallel()
	changed := Task{ID: "two", Title: "Two", Detail: "And more."}
	all := &Plan{Tasks: []Task{taskOne, taskTwo}}
	approved := turnOf(10, Prompted{Approve: all, By: approver})
	replan := func(tasks ...Task) Body { return Planned{Plan: Plan{Tasks: tasks}, By: "user"} }
	for name, c := range map[string]struct {
		then []Body
		want string // "" means that it is a valid log
	}{
		"in the turn that plans":           {[]Body{started("one")}, "no mission is running"},
		"text is no approval":              {append(turnOf(10, Prompted{}), started("one")), "task one is not approved"},
		"a steering prompt is none":        {append(turnOf(10, Prompted{}), Prompted{Approve: all, Delivery: DeliverSteer}, Injected{Source: "user", Prompt: 12}, started("one")), "task one is not approved"},
		"nor is one that waits":            {append(turnOf(10, Prompted{}), Prompted{Approve: all, Delivery: DeliverQueue}, started("one")), "task one is not approved"},
		"nor is one that was withdrawn":    {append([]Body{Prompted{Approve: all}, Withdrawn{Prompt: 10}}, append(turnOf(12, Prompted{}), started("one"))...), "task one is not approved"},
		"approved":                         {append(approved, started("one")), ""},
		"approved by an edited plan":       {append(turnOf(10, Prompted{Approve: &Plan{Tasks: []Task{changed, taskOne}}}), Delegated{Tasks: []string{"two"}}, started("two")), ""},
		"the plan drops it":                {append(turnOf(10, Prompted{Approve: &Plan{Tasks: []Task{taskTwo}}}), started("one")), "task one is not queued"},
		"a changed task needs another":     {append(approved, replan(taskOne, changed), Delegated{Tasks: []string{"two"}}, started("two")), "task two is not approved"},
		"the others do not":                {append(approved, replan(taskOne, changed), started("one")), ""},
		"a new task needs one":             {append(approved, replan(taskOne, taskTwo, Task{ID: "three", Title: "Three"}), Delegated{Tasks: []string{"three"}}, started("three")), "task three is not approved"},
		"a dropped task needs another":     {append(approved, replan(taskTwo), replan(taskTwo, taskOne), Delegated{Tasks: []string{"one"}}, started("one")), "task one is not approved"},
		"changed back, it needs another":   {append(approved, replan(taskOne, changed), replan(taskOne, taskTwo), Delegated{Tasks: []string{"two"}}, started("two")), "task two is not approved"},
		"a plan that is invalid":           {turnOf(10, Prompted{Approve: &Plan{}}), "1 to 200 tasks"},
		"mission control cannot approve":   {append(turnOf(10, Prompted{}), replan(taskOne, taskTwo), started("one")), "task one is not approved"},
		"a second approval is for its own": {append(approved, TurnFinished{}, Prompted{Approve: all}, TurnStarted{Prompt: 13}, started("one")), ""},
	} {
		_, err := foldEvents(eventsOf(append(plannedMission(), c.then...)...))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestApproved checks what is kept of an approval.
func TestApproved(t *testing.T) {
	t.Parallel()
	h, err := foldEvents(eventsOf(plannedMission()...))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.Mission().Unapproved()); n != 2 {
		t.Errorf("%d tasks are not approved", n)
	}
	plan := Plan{Tasks: []Task{taskTwo}}
	h, err = foldEvents(eventsOf(append(plannedMission(), turnOf(10, Prompted{Approve: &plan, By: approver})...)...))
	if err != nil {
		t.Fatal(err)
	}
	m := h.Mission()
	if diff := cmp.Diff([]any{plan.Hash(), approver, plan, 2}, []any{m.Approved, m.ApprovedBy, m.Plan(), m.Plans}); diff != "" || len(m.Unapproved()) > 0 || m.Blocked != nil {
		t.Errorf("%+v\n%s", m, diff)
	}
}

// TestTryApprove checks when a plan cannot be approved.
func TestTryApprove(t *testing.T) {
	t.Parallel()
	plan := Plan{Tasks: []Task{taskOne}}
	for name, m := range map[string]*Mission{
		"the mission is sealed":                      {Order: MissionOrder{ApprovePlan: true}, Criteria: &Criteria{}, Sealed: &Sealed{}},
		"the mission does not wait for an approval":  {Criteria: &Criteria{}},
		"there is no plan yet":                       {Order: MissionOrder{ApprovePlan: true}},
		"task old is merged and cannot be dropped":   {Order: MissionOrder{ApprovePlan: true}, Criteria: &Criteria{}, Tasks: []TaskState{{Task: Task{ID: "old", Title: "Old"}, Phase: PhaseMerged}}},
		"task busy is running and cannot be dropped": {Order: MissionOrder{ApprovePlan: true}, Criteria: &Criteria{}, Tasks: []TaskState{{Task: Task{ID: "busy", Title: "Busy"}, Phase: PhaseRunning}}},
	} {
		if err := m.TryApprove(plan); CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := &Mission{Order: MissionOrder{ApprovePlan: true}, Criteria: &Criteria{}}
	if err := m.TryApprove(plan); err != nil || m.Approved != "" || len(m.Tasks) > 0 {
		t.Errorf("%v, %+v", err, m)
	}
}
