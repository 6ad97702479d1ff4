package humanize

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const hash = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

func check(on string, code int, fault string, tests *pawl.TestCount) pawl.CheckRan {
	return pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "go-test", On: on, Code: code, Fault: fault, Tests: tests, Tail: "FAIL\ta\n"}}
}

func TestMission(t *testing.T) {
	t.Parallel()
	faults := []pawl.GateFault{{Rule: "test-deleted", Item: "TestA", Text: "put it back"}, {Rule: "dirty", Text: "commit it"}}
	ofTask := check("candidate", 1, "", &pawl.TestCount{Passed: 9, Failed: 2, Skipped: 1, Broken: 1})
	ofTask.Task = "T1"
	for _, c := range []struct {
		body   pawl.Body
		line   string
		level  Level
		detail string
	}{
		{pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it fast\n\nand small"}}, "goal: make it fast …", Quiet, "make it fast\n\nand small"},
		{pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it fast", Criteria: []pawl.Criterion{{ID: "C1", Text: "below 1 s"}}}}, "goal: make it fast", Quiet, "C1: below 1 s"},
		{
			pawl.Planned{By: "commander", Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "T1", Title: "one"}, {ID: "T2", Title: "two", After: []string{"T1"}}}}},
			"planned by the commander: 2 tasks", Quiet, "T1: one\nT2: two, after T1",
		},
		{
			pawl.CriteriaSet{Criteria: pawl.Criteria{Base: hash, Checks: []pawl.Check{{ID: "go-test", Args: []string{"go", "test"}}}, Criteria: []pawl.Criterion{{ID: "C1", Text: "fast"}}}},
			"criteria set: 1 check, 1 criterion, base 1a2b3c4d", Quiet, "go-test: go test\nC1: fast",
		},
		{pawl.CriteriaSet{}, "criteria set: 0 checks, 0 criteria", Quiet, ""},
		{pawl.Delegated{Tasks: []string{"T1", "T2"}}, "queued: T1, T2", Quiet, ""},
		{pawl.Delegated{Tasks: []string{"1", "2", "3", "4", "5", "6", "7"}}, "queued: 1, 2, 3, 4, 5 and 2 more", Quiet, ""},
		{pawl.TaskStarted{Task: "T1", Attempt: 1}, "T1 started", Quiet, ""},
		{pawl.TaskStarted{Task: "T1", Attempt: 2}, "T1 started (attempt 2)", Quiet, ""},
		{pawl.TaskMerged{Task: "T1", Commit: hash}, "T1 merged as 1a2b3c4d", Good, ""},
		{pawl.TaskReturned{Task: "T1", Why: pawl.ReturnConflict, Text: "a.go\nb.go"}, "T1 returned: merge conflict: a.go …", Warn, "a.go\nb.go"},
		{pawl.TaskReturned{Task: "T1", Why: pawl.ReturnStopped}, "T1 returned: stopped", Quiet, ""},
		{pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCanceled, Text: "no use"}, "T1 returned: canceled: no use", Quiet, ""},
		{check("candidate", 0, "", &pawl.TestCount{Passed: 12}), "go-test on the candidate: passed, 12 tests", Good, ""},
		{ofTask, "go-test on the candidate of T1: failed, exit code 1, 12 tests, 2 failed, 1 skipped, 1 could not run", Bad, "FAIL\ta"},
		{check("old tests", -1, "", nil), "go-test on the candidate with the old tests: failed, killed by a signal", Bad, "FAIL\ta"},
		{check("base", 1, "", nil), "go-test on the base: failed, exit code 1", Quiet, "FAIL\ta"},
		{check("new tests", 1, "", nil), "go-test on the base with the new tests: failed, exit code 1", Quiet, "FAIL\ta"},
		{check("moon", 0, "a timeout", nil), "go-test on moon: did not finish: a timeout", Bad, "FAIL\ta"},
		{pawl.ReviewStarted{Round: 2, Model: "openai/gpt-5"}, "review started, round 2 (openai/gpt-5)", Quiet, ""},
		{pawl.ReviewStarted{Round: 1}, "review started, round 1", Quiet, ""},
		{pawl.Reviewed{Holds: []pawl.Judgment{{ID: "C1", Holds: true, Why: "seen"}, {ID: "C2", Why: "slow"}}}, "review passed", Good, "C1 met: seen\nC2 not met: slow"},
		{pawl.Reviewed{Faults: faults[:1]}, "review not passed, 1 problem: test-deleted TestA", Warn, "test-deleted TestA: put it back"},
		{
			pawl.GateResult{Faults: faults, Notes: faults[1:]}, "gate not passed, 2 problems: test-deleted TestA, dirty", Warn,
			"test-deleted TestA: put it back\ndirty: commit it\nnote: dirty: commit it",
		},
		{pawl.GateResult{}, "gate passed", Good, ""},
		{pawl.GateResult{Verdict: "proven", Mutants: 3, Killed: 2}, "gate passed: proven, 2 of 3 mutants killed", Good, ""},
		{pawl.Sealed{Candidate: hash}, "sealed at 1a2b3c4d", Good, ""},
		{pawl.Sealed{Candidate: hash, Reviewed: 1, Total: 3}, "sealed at 1a2b3c4d, 1 of 3 criteria by review", Good, ""},
		{pawl.Blocked{Reason: "no key for the server"}, "blocked: no key for the server", Warn, ""},
		{pawl.Prompted{}, "", Quiet, ""},
	} {
		line, level := Mission(c.body)
		if line != c.line || level != c.level {
			t.Errorf("%T: %q, %d; want %q, %d", c.body, line, level, c.line, c.level)
		}
		if got := MissionDetail(c.body); got != c.detail {
			t.Errorf("%T: the detail is %q, want %q", c.body, got, c.detail)
		}
	}
}

// TestMissionComplete: Mission has a line for every event of a mission, and for no
// other.
func TestMissionComplete(t *testing.T) {
	t.Parallel()
	described := 0
	for _, kind := range pawl.Kinds() {
		b, err := kind.Decode(1, []byte(`{}`))
		if err != nil {
			continue // a body of another kind that cannot be empty
		}
		_, begins := b.(pawl.MissionStarted)
		line, _ := Mission(b)
		if (line != "") != (begins || missionapi.IsEvent(b)) {
			t.Errorf("%s has the line %q", kind, line)
		}
		if line != "" {
			described++
		}
	}
	if described != 13 {
		t.Errorf("%d kinds have a line", described)
	}
}

// TestMissionIsPlain: untrusted text stays on one line, has no effect on a terminal,
// and is limited in length.
func TestMissionIsPlain(t *testing.T) {
	t.Parallel()
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\x1b[2Jb", "a\rb", "a\u202eb", "\x9b31m", "a\nb", "\U000e0041", strings.Repeat("x", 1000)}))
	rapid.Check(t, func(t *rapid.T) {
		s := func(what string) string { return hostile.Draw(t, what) }
		fault := []pawl.GateFault{{Rule: s("rule"), Item: s("item"), Text: s("fault")}}
		for _, b := range []pawl.Body{
			pawl.MissionStarted{Order: pawl.MissionOrder{Goal: s("goal")}},
			pawl.Planned{By: s("by"), Plan: pawl.Plan{Tasks: []pawl.Task{{ID: s("id"), Title: s("title")}}}},
			pawl.CriteriaSet{Criteria: pawl.Criteria{Base: s("base"), Checks: []pawl.Check{{ID: s("check"), Args: []string{s("arg")}}}}},
			pawl.Delegated{Tasks: []string{s("task")}},
			pawl.TaskStarted{Task: s("task"), Attempt: 2},
			pawl.TaskMerged{Task: s("task"), Commit: s("commit")},
			pawl.TaskReturned{Task: s("task"), Why: pawl.ReturnReason(s("why")), Text: s("text")},
			pawl.CheckRan{CheckRun: pawl.CheckRun{Check: s("check"), On: s("on"), Fault: s("fault"), Tail: s("tail")}, Task: s("task")},
			pawl.ReviewStarted{Model: s("model")},
			pawl.Reviewed{Faults: fault, Holds: []pawl.Judgment{{ID: s("id"), Why: s("why")}}},
			pawl.GateResult{Faults: fault}, pawl.Sealed{Candidate: s("commit")}, pawl.Blocked{Reason: s("reason")},
		} {
			line, _ := Mission(b)
			if strings.ContainsFunc(line, sanitize.Strange) || len([]rune(line)) > 5*maxPart {
				t.Fatalf("%T: %q", b, line)
			}
			if detail := MissionDetail(b); sanitize.Text(detail) != detail {
				t.Fatalf("%T: %q", b, detail)
			}
		}
	})
}
