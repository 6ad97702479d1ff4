package pawl

import "time"

// missionSamples returns the samples that are about missions.
func missionSamples() []Body {
	checks := []Check{{
		ID: "go-test", Kind: CheckTest, Args: []string{"/usr/bin/go", "test", "-json", "./..."}, Dir: "engine", Env: []string{"GOFLAGS=-mod=vendor"},
		Network: []string{"proxy.golang.org"}, Timeout: 10 * time.Minute, Tests: "gotest", Report: "report.json",
	}}
	criteria := []Criterion{{ID: "AC-1", Category: "Parser", Text: "Comments are kept.", Checks: []string{"go-test"}, Tests: []string{"TestComments"}}}
	approval := Approval{Tests: []string{"TestOld*"}}
	faults := []GateFault{{Rule: "test-deleted", Item: "TestComments", Text: "The test is gone: bring it back."}}
	missionCriteria := Criteria{
		Base: "1f0c2d7", Checks: checks, Criteria: criteria, Protected: []string{"Makefile"}, Approval: approval,
		Tools: map[string]string{"/usr/bin/go": "sha256:9f86d081"},
	}
	ran := CheckRan{
		CheckRun: CheckRun{
			Check: "go-test", On: "candidate", Tree: "4b825dc6", Args: checks[0].Args, Env: "sha256:5891b5b5", Code: 1, Fault: "it took longer than 10m0s",
			Duration: 10 * time.Minute, Output: "sha256:e3b0c442", Tail: "FAIL\n", Tests: &TestCount{Passed: 41, Failed: 1, Skipped: 2, Broken: 1},
		},
		Round: 1, Task: "parser",
	}
	return []Body{
		MissionStarted{
			Order: MissionOrder{
				Goal: "Keep the comments.", Criteria: criteria, Checks: checks, Protected: []string{"Makefile"}, Approval: approval,
				Workers: 3, Model: "openai/gpt-5", Reviewers: []string{"anthropic/claude-opus-4-5"}, Stuck: 10 * time.Minute,
				ApprovePlan: true,
			},
			By: Actor{User: "ada", Token: "01JD00000000000000000000T0", Scope: "run"},
		},
		Planned{By: "planner", Plan: Plan{Tasks: []Task{{
			ID: "parser", Title: "Parse comments", Detail: "See lex.go.", Files: []string{"parse/"}, After: []string{"lexer"}, Accept: []string{"A comment is a node."}, Size: "M",
		}}}},
		CriteriaSet{Criteria: missionCriteria, Hash: missionCriteria.Hash(), Branch: "pawl/mission-01JD"},
		Delegated{Tasks: []string{"parser"}},
		TaskStarted{Task: "parser", Attempt: 2, Worker: "01JD0000000000000000000001", Base: "1f0c2d7", From: "2a1b3c4"},
		TaskMerged{Task: "parser", Attempt: 2, Commit: "3b2c4d5", Outside: []string{"go.mod"}},
		TaskReturned{Task: "parser", Attempt: 1, Why: ReturnCheck, Text: "go-test fails.", Base: "1f0c2d7", From: "2a1b3c4"},
		ran.Link("sha256:2c26b46b"),
		ReviewStarted{Round: 1, Reviewer: "01JD0000000000000000000002", Model: "anthropic/claude-opus-4-5"},
		Reviewed{Round: 1, Reviewer: "01JD0000000000000000000002", Holds: []Judgment{{ID: "AC-1", Holds: true, Why: "The test shows it."}}, Faults: faults},
		GateResult{Round: 1, Candidate: "3b2c4d5", Tree: "4b825dc6", Verdict: "failed", Holding: 12, New: 2, Mutants: 9, Killed: 8, Faults: faults, Notes: faults},
		Sealed{Round: 2, Candidate: "3b2c4d5", Tree: "4b825dc6", Criteria: missionCriteria.Hash(), Chain: ran.Link("sha256:2c26b46b").Hash, Reviewed: 1, Total: 3},
		Blocked{Reason: "The key for the server is missing.", By: "commander", State: MissionPlanned},
	}
}
