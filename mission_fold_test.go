package pawl

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

const (
	workerA SessionID = "01JD00000000000000000000A1"
	workerB SessionID = "01JD00000000000000000000B1"
)

// evidence returns a check that passed on a tree.
func evidence(round int, tree string) CheckRan {
	return CheckRan{CheckRun: CheckRun{Check: "test", On: "candidate", Tree: tree, Args: []string{"/bin/true"}}, Round: round}
}

func sampleCriteria() CriteriaSet {
	f := Criteria{Base: "c0", Checks: []Check{{ID: "test", Kind: CheckTest, Args: []string{"/bin/true"}}}, Tools: map[string]string{"/bin/true": "sha256:0"}}
	return CriteriaSet{Criteria: f, Hash: f.Hash(), Branch: "pawl/x"}
}

// sealedMission returns a complete mission, from start to seal.
func sealedMission() []Body {
	gate := sampleCriteria()
	base := CheckRan{CheckRun: CheckRun{Check: "test", On: "base", Tree: "t0", Code: 1, Args: []string{"/bin/true"}}}.Link("")
	merge := CheckRan{CheckRun: evidence(0, "t1").CheckRun, Task: "one"}.Link(base.Hash)
	last := evidence(1, "t2").Link(merge.Hash)
	return []Body{
		SessionCreated{Dir: "/project"},                 // 0
		MissionStarted{Order: MissionOrder{Goal: "go"}}, // 1
		Prompted{Parts: Parts{Text{"go"}}},              // 2
		TurnStarted{Prompt: 3},                          // 3
		gate,                                            // 4
		base,                                            // 5
		Planned{Plan: Plan{Tasks: []Task{{ID: "one", Title: "One"}, {ID: "two", Title: "Two"}}}, By: "commander"}, // 6
		Delegated{Tasks: []string{"one", "two"}},                                      // 7
		TaskStarted{Task: "one", Attempt: 1, Worker: workerA, Base: "c0", From: "c0"}, // 8
		TaskStarted{Task: "two", Attempt: 1, Worker: workerB, Base: "c0", From: "c0"}, // 9
		merge, // 10
		TaskMerged{Task: "one", Attempt: 1, Commit: "c1"}, // 11
		TaskMerged{Task: "two", Attempt: 1, Commit: "c2"}, // 12
		last, // 13
		GateResult{Round: 1, Candidate: "c2", Tree: "t2", Verdict: verdictProven},            // 14
		Sealed{Round: 1, Candidate: "c2", Tree: "t2", Criteria: gate.Hash, Chain: last.Hash}, // 15
	}
}

func eventsOf(bodies ...Body) []Event {
	var events []Event
	for i, b := range bodies {
		events = append(events, Event{Seq: Seq(i + 1), At: time.Unix(int64(i), 0).UTC(), Body: b})
	}
	return events
}

func TestMissionSealed(t *testing.T) {
	t.Parallel()
	h, err := foldEvents(eventsOf(sealedMission()...))
	if err != nil {
		t.Fatal(err)
	}
	m := h.Mission()
	if m.Sealed == nil || len(m.Open()) > 0 || m.Tip != "c2" || m.Round != 1 || m.Attempts != 2 || len(m.Issues()) > 0 {
		t.Errorf("got %+v", m)
	}
	if diff := cmp.Diff([]SessionID{workerA, workerB}, m.Team); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]SessionID{workerA, workerB}, h.Open().Workers); diff != "" {
		t.Error(diff)
	}
}

// TestTaskTook checks that a task has the time and the workers of all its attempts.
func TestTaskTook(t *testing.T) {
	t.Parallel()
	again := sealedMission()[:11] // one second between events: it started at 8, and returns at 11
	again = append(again, TaskReturned{Task: "one", Attempt: 1, Why: ReturnCheck}, TaskStarted{Task: "one", Attempt: 2, Worker: workerB, Base: "c0", From: "c0"},
		TaskMerged{Task: "one", Attempt: 2, Commit: "c1"})
	h, err := foldEvents(eventsOf(again...))
	if err != nil {
		t.Fatal(err)
	}
	task := h.Mission().Task("one")
	if diff := cmp.Diff([]SessionID{workerA, workerB}, task.Workers); diff != "" || task.Took != 4*time.Second {
		t.Errorf("%s: %s", task.Took, diff)
	}
}

// edit tampers with a complete mission.
type edit func([]Body) []Body

func without(i int) edit { return func(b []Body) []Body { return slices.Delete(b, i, i+1) } }

func insert(i int, more ...Body) edit {
	return func(b []Body) []Body { return slices.Insert(b, i, more...) }
}

func change[B Body](i int, to func(*B)) edit {
	return func(list []Body) []Body {
		b := list[i].(B) //nolint:forcetypeassert // or the test is wrong
		to(&b)
		list[i] = b
		return list
	}
}

// proving changes the evidence of the gate, and the seal to match it.
func proving(to func(*CheckRan)) edit {
	return func(list []Body) []Body {
		list = change(13, func(b *CheckRan) { to(b); *b = b.Link(b.Prev) })(list)
		return change(15, func(b *Sealed) { b.Chain = list[13].(CheckRan).Hash })(list) //nolint:forcetypeassert // or the test is wrong
	}
}

// TestMissionRefuses checks that a log is verified: each event must follow from those
// before it.
func TestMissionRefuses(t *testing.T) {
	t.Parallel()
	other := evidence(1, "t2").Link("sha256:elsewhere")
	whole := sealedMission()
	link := func(i int) string { return whole[i].(CheckRan).Hash } //nolint:forcetypeassert // likewise
	again := evidence(1, "t2").Link(link(13))
	for name, c := range map[string]struct {
		edit edit
		want string
	}{
		"sealed without a judgment":          {without(14), "the gate has not passed"},
		"sealed with a fault":                {change(14, func(b *GateResult) { b.Faults = []GateFault{{Rule: "r"}} }), "the gate has not passed"},
		"sealed in another round":            {change(15, func(b *Sealed) { b.Round = 2 }), "the gate has not passed"},
		"sealed as another tree":             {change(15, func(b *Sealed) { b.Tree = "t1" }), "the gate has not passed"},
		"sealed as another candidate":        {change(15, func(b *Sealed) { b.Candidate = "c1" }), "the gate has not passed"},
		"sealed by another gate":             {change(15, func(b *Sealed) { b.Criteria = "sha256:x" }), "the evidence is not about this"},
		"sealed by other evidence":           {change(15, func(b *Sealed) { b.Chain = link(10) }), "the evidence is not about this"},
		"sealed before newer evidence":       {insert(15, again), "the evidence is not about this"},
		"sealed by evidence of another tree": {proving(func(b *CheckRan) { b.Tree = "t1" }), "the evidence is not about this"},
		"sealed by a check that failed":      {proving(func(b *CheckRan) { b.Code = 1 }), "the evidence is not about this"},
		"sealed by a check without an end":   {proving(func(b *CheckRan) { b.Fault = "timeout" }), "the evidence is not about this"},
		"sealed by checks alone":             {change(14, func(b *GateResult) { b.Verdict = "checked" }), "the evidence is not about this"},
		"sealed without a change of code":    {change(14, func(b *GateResult) { b.Verdict = verdictNoCode }), "the evidence is not about this"},
		"sealed without a verdict":           {change(14, func(b *GateResult) { b.Verdict = "" }), "the evidence is not about this"},
		"sealed by old tests":                {proving(func(b *CheckRan) { b.On = "old tests" }), "the evidence is not about this"},
		"sealed by a merge's check":          {proving(func(b *CheckRan) { b.Round, b.Task = 0, "two" }), "the evidence is not about this"},
		"sealed after another merge": {func(b []Body) []Body {
			b[12], b[13], b[14] = b[13], GateResult{Round: 1, Candidate: "c1", Tree: "t2"}, b[12]
			return b
		}, "the gate has not passed"},
		"sealed with an open task":          {change(6, func(b *Planned) { b.Plan.Tasks = append(b.Plan.Tasks, Task{ID: "three", Title: "Three"}) }), "not merged"},
		"sealed with a task that was begun": {func(b []Body) []Body { return sealedAs(slices.Delete(b, 12, 13), "c1") }, "not merged"},
		"sealed twice":                      {insert(16, whole[15]), "is sealed"},
		"more work after the seal":          {insert(16, Planned{Plan: Plan{Tasks: []Task{{ID: "one", Title: "One"}}}}), "is sealed"},
		"judged about another commit":       {change(14, func(b *GateResult) { b.Candidate = "c1" }), "not about the current candidate"},
		"judged in a round that is over":    {insert(14, evidence(2, "t2").Link(link(13))), "not about the current candidate"},
		"judged before it is frozen":        {insert(4, GateResult{Round: 1}), "not about the current candidate"},
		"evidence that is changed":          {change(5, func(b *CheckRan) { b.Code = 0 }), "chain of evidence"},
		"evidence that is left out":         {without(10), "chain of evidence"},
		"evidence that is put in":           {insert(13, other), "chain of evidence"},
		"evidence in another order":         {func(b []Body) []Body { b[5], b[10] = b[10], b[5]; return b }, "chain of evidence"},
		"a hash that is not of it":          {change(4, func(b *CriteriaSet) { b.Hash = "sha256:x" }), "the hash does not match"},
		"a gate that is changed":            {change(4, func(b *CriteriaSet) { b.Criteria.Checks[0].Args = []string{"/bin/false"} }), "the hash does not match"},
		"frozen twice":                      {insert(5, whole[4]), "already set"},
		"work before it is frozen":          {without(4), "before the criteria are set"},
		"a task nobody asked for":           {without(7), "is not queued"},
		"a task that is begun twice":        {insert(9, whole[8]), "is not queued"},
		"an attempt that is left out":       {change(8, func(b *TaskStarted) { b.Attempt = 2 }), "follows attempt 0"},
		"a task that does not exist":        {change(7, func(b *Delegated) { b.Tasks = []string{"zero"} }), "is not ready to be delegated"},
		"merged by nobody":                  {without(8), "is not running"},
		"merged twice":                      {insert(12, whole[11]), "is not running"},
		"merged by another attempt":         {change(11, func(b *TaskMerged) { b.Attempt = 2 }), "is not running"},
		"returned by nobody":                {insert(12, TaskReturned{Task: "one", Attempt: 1}), "is not running"},
		"a plan that is none":               {change(6, func(b *Planned) { b.Plan.Tasks = nil }), "a plan needs"},
		"a plan without what is merged":     {insert(12, Planned{Plan: Plan{Tasks: []Task{{ID: "two", Title: "Two"}}}}), "cannot be dropped"},
		"a plan without what is begun":      {insert(9, Planned{Plan: Plan{Tasks: []Task{{ID: "two", Title: "Two"}}}}), "cannot be dropped"},
		"a second mission":                  {insert(2, whole[1]), "can only start in a new session"},
		"a mission in mid-session":          {insert(4, whole[1]), "can only start in a new session"},
		"a mission after a prompt":          {func(b []Body) []Body { b[1], b[2] = b[2], b[1]; return b }, "can only start in a new session"},
		"a mission of a child":              {change(0, func(b *SessionCreated) { b.Parent = workerA }), "can only start in a new session"},
		"a plan without a mission":          {without(1), "no mission"},
		"a plan outside of a turn":          {insert(4, TurnFinished{}), "no mission is running"},
	} {
		t.Run(name, func(t *testing.T) {
			bodies := c.edit(sealedMission())
			if name == "a plan without a mission" {
				bodies[2] = TurnStarted{Prompt: 2}
			}
			if _, err := foldEvents(eventsOf(bodies...)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// sealedAs sets the commit of the gate result and of the seal.
func sealedAs(bodies []Body, commit string) []Body {
	for i, b := range bodies {
		switch b := b.(type) {
		case GateResult:
			b.Candidate = commit
			bodies[i] = b
		case Sealed:
			b.Candidate = commit
			bodies[i] = b
		default:
		}
	}
	return bodies
}

// TestMissionReturns checks that a returned task is retried up to a limit, and that a
// new plan resets the limit.
func TestMissionReturns(t *testing.T) {
	t.Parallel()
	bodies := sealedMission()[:8]
	attempt := func(n int, why ReturnReason) {
		bodies = append(bodies, TaskStarted{Task: "one", Attempt: n, Worker: workerA, Base: "c0", From: "c0"},
			TaskReturned{Task: "one", Attempt: n, Why: why, Text: "no", Base: "c0", From: "c1"})
	}
	phase := func() (TaskPhase, int) {
		t.Helper()
		h, err := foldEvents(eventsOf(bodies...))
		if err != nil {
			t.Fatal(err)
		}
		one := h.Mission().Task("one")
		return one.Phase, len(h.Mission().Issues())
	}
	for i, step := range []struct {
		why    ReturnReason
		want   TaskPhase
		issues int
	}{
		{ReturnStopped, PhaseQueued, 0},
		{ReturnConflict, PhaseQueued, 1},
		{ReturnStopped, PhaseQueued, 0},
		{ReturnCheck, PhaseQueued, 1},
		{ReturnFailed, PhaseReturned, 0},
	} {
		attempt(i+1, step.why)
		if got, issues := phase(); got != step.want || issues != step.issues {
			t.Errorf("after %s: %s, %d issues", step.why, got, issues)
		}
	}
	bodies = append(bodies, bodies[6])
	if got, _ := phase(); got != PhasePlanned {
		t.Errorf("planned anew: %s", got)
	}
	bodies = append(bodies, Delegated{Tasks: []string{"one"}})
	attempt(6, ReturnCanceled)
	if got, _ := phase(); got != PhaseReturned {
		t.Errorf("canceled: %s", got)
	}
}

// TestMissionTry checks that mission control can write only events of the mission.
func TestMissionTry(t *testing.T) {
	t.Parallel()
	m := &Mission{}
	before := m.Clone()
	for _, b := range []Body{MissionStarted{}, Prompted{}, TurnFinished{}, SessionTitled{}} {
		if err := m.Try(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%T: %v", b, err)
		}
	}
	plan := Planned{Plan: Plan{Tasks: []Task{{ID: "one", Title: "One"}}}}
	if err := m.Try(plan, Delegated{Tasks: []string{"one"}}); err != nil {
		t.Error(err)
	}
	if err := m.Try(plan, Delegated{Tasks: []string{"two"}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, m); diff != "" {
		t.Errorf("a trial has left something: %s", diff)
	}
}

// TestEvidenceIsKept checks that evidence has the same hash after it is written and
// read, whatever a check prints.
func TestEvidenceIsKept(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "<a> & b", "\x00\x1b[0m", "\u2028", "caf\xe9", "\xff\xfe", "�"} {
		ran := CheckRan{CheckRun: CheckRun{Check: "test", On: "base", Tail: text, Fault: text, Args: []string{"echo", text}}}.Link("")
		gate := sampleCriteria()
		gate.Criteria.Protected = []string{text}
		gate.Hash = gate.Criteria.Hash()
		var read []Event
		for _, e := range eventsOf(slices.Concat(sealedMission()[:4], []Body{gate, ran, ran.Link(ran.Hash)})...) {
			data, err := strictjson.Encode(e)
			if err == nil {
				err = json.Unmarshal(data, &e)
			}
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, e)
		}
		if _, err := foldEvents(read); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
