//go:build cheats && e2e

package mission

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl"
)

// planWith is a plan of one task with what else a plan can say.
func planWith(more Object) Call {
	in := Object{"tasks": []Object{Task("T1", "Write it", nil)}}
	for k, v := range more {
		in[k] = v
	}
	return Call{"plan", in}
}

func criterion(id, text string) []Object { return []Object{{"id": id, "text": text}} }

// wished is a mission with a criterion of the user.
var wished = slices.Concat(noted, []string{"--criterion", "each line is a number"})

// parted is a check that each of two changes passes alone, and not both together.
var parted = map[string]string{"a.part": "1\n", "check.sh": "test $(cat *.part | wc -l) -le 2\n"}

// evidence are teams that use what was found for something else, or change what
// must be found.
var evidence = []story{
	{
		name: "asks again without a change", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker", words, "It is written.")
			w.As("reviewer", Verdict(false, "goal"), "It does not hold.")
			w.Lead(task1(Seal(), Seal(), sealedBy, gaveUp(), "It is blocked.")...)
		},
		want:    []string{"T1 merged", "fault: review goal", "blocked by commander"},
		refused: []string{"seal: as the code shows", "seal: nothing has changed since"}, holds: unticked,
	},
	{
		name: "changes more after a judgment and calls it judged", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker:T1", words, "It is written.")
			w.As("worker:T2", WriteFile("more.txt", "two\n"), "More is written.")
			w.As("reviewer", Verdict(false, "goal"), "It does not hold.")
			w.Lead(task1(append([]any{Seal(), Plan(Task("T1", "Write it", nil), Task("T2", "Write more", nil)), Delegate()}, times(6, "The gate has judged it.")...)...)...)
		},
		want: []string{"T1 merged", "fault: review goal", "T2 merged", "blocked by pawl"},
		holds: func(t *testing.T, w *Env, b pawl.Board) {
			t.Helper()
			if unticked(t, w, b); b.Mission.Gate != nil {
				t.Errorf("a judgment outlived a merge: %+v", b.Mission.Gate)
			}
		},
	},
	{
		name: "has the branch moved", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker", words, "It is written.")
			w.Lead(task1(gaveUp(), "It is blocked.", Seal(), gaveUp(), "It is blocked again.")...)
		},
		then: func(w *Env, b pawl.Board) { w.Git("branch", "-f", b.Mission.Branch, "main") },
		want: []string{"T1 merged", "blocked by commander", "blocked by commander"}, refused: []string{"seal: but the mission left it at"}, holds: unticked,
	},
	{
		name: "has the branch moved while the gate looks", files: note, args: noted,
		team: func(w *Env) {
			w.onVerdict("git for-each-ref --format='%(refname:short)' refs/heads/pawl/ | xargs -I{} git branch -f {} main")
			w.As("worker", words, "It is written.")
			w.As("reviewer", Verdict(true, "goal"), "I have looked.")
			w.Lead(task1(Seal(), gaveUp(), "It is blocked.")...)
		},
		want: []string{"T1 merged", "blocked by commander"}, refused: []string{"seal: but the mission left it at"}, holds: unticked,
	},
	{
		name: "asks for less after the freeze", files: note, args: wished,
		team: func(w *Env) {
			w.As("worker", words, "It is written.")
			w.As("reviewer", Line{Expect: `\*\*U1\*\*: each line is a number\n- \*\*C1\*\*: all of it is there\n`, Calls: []Call{Verdict(true, "goal")}}, "I have looked.")
			w.Lead(planWith(Object{"criteria": criterion("C1", "all of it is there")}),
				planWith(Object{"criteria": criterion("C1", "some of it is there")}), planWith(Object{"criteria": criterion("C2", "anything")}),
				planWith(Object{"checks": []Object{{"id": "mine", "command": []string{"true"}}}}),
				Delegate(), "I wait.", Seal(), gaveUp(), "It is blocked.")
		},
		want:    []string{"T1 merged", "fault: review-unreadable C1", "fault: review-unreadable U1", "blocked by commander"},
		refused: []string{"plan: fixed since the first plan"}, holds: refusedPlans(3),
	},
	{
		name: "asks for other checks and exceptions after the freeze", files: note, args: wished,
		team: func(w *Env) {
			w.Lead(planWith(nil), planWith(Object{"checks": []Object{{"id": "check-1", "command": []string{"true"}}}}),
				planWith(Object{"allow_tests": []string{"*"}}),
				planWith(Object{"criteria": criterion("U1", "anything")}), gaveUp(), "It is blocked.")
		},
		want: []string{"blocked by commander"}, refused: []string{"plan: fixed since the first plan", "plan: U1 is the user's"}, holds: refusedPlans(2),
	},
	{
		name: "has a planner ask for less", files: note, args: wished,
		team: func(w *Env) {
			w.As("planner", planWith(Object{"checks": []Object{{"id": "check-1", "command": []string{"true"}}}, "allow_tests": []string{"*"}}), "It is planned.")
			w.Lead(planWith(nil), Call{"delegate", Object{"planner": "Plan with less."}}, gaveUp(), "It is blocked.")
		},
		want: []string{"blocked by commander"}, refused: []string{"delegate: fixed since the first plan"},
	},
	{
		name: "puts its own in the place of the user's", files: note, args: wished,
		team: func(w *Env) {
			w.Lead(planWith(Object{"criteria": criterion("U1", "anything")}), planWith(Object{"checks": []Object{{"id": "check-1", "command": []string{"true"}}}}),
				planWith(Object{"allow_tests": []string{"*"}}), gaveUp(), "It is blocked.")
		},
		want:    []string{"blocked by commander"},
		refused: []string{"plan: is the user's", "plan: needs a unique id", "plan: the user has not approved"},
	},
	{
		name: "merges what breaks together", files: parted, args: []string{"--check", "sh check.sh"}, either: true,
		team: func(w *Env) {
			w.As("worker:T1", WriteFile("b.part", "1\n"), "It passes.")
			w.As("worker:T2", WriteFile("c.part", "1\n"), "It passes.")
			w.Lead(Plan(Task("T1", "Write b", []string{"b.part"}), Task("T2", "Write c", []string{"c.part"})), Delegate(), "I wait.", Seal(),
				Plan(Task("T1", "b is as it is", []string{"b.part"}), Task("T2", "c is as it is", []string{"c.part"})), Seal(), sealedBy, gaveUp(), "It is blocked.")
		},
		want:    []string{"T merged", "T back: check", "T back: check", "T back: check", "blocked by commander"},
		refused: []string{"seal: Sync issue, ", "seal: : planned"},
	},
	{
		name: "claims that a conflict is settled", files: note, args: []string{"--check", "test -f .gitignore"}, either: true,
		team: func(w *Env) {
			for _, id := range []string{"T1", "T2"} {
				w.As("worker:"+id+":1", rewrite("note.txt", id+"\n"), "It is written.")
				w.As("worker:"+id, Shell("true"), "The conflict is settled.") // it leaves the marks
			}
			w.Lead(Plan(Task("T1", "Write it", nil), Task("T2", "Write it too", nil)), Delegate(), "I wait.", Seal(), gaveUp(), "It is blocked.")
		},
		want:    []string{"T merged", "T back: conflict", "T back: conflict", "T back: conflict", "blocked by commander"},
		refused: []string{"seal: Sync issue, "},
	},
}

// onVerdict has a hook of the user's run a command in the project once a reviewer
// gives its verdict: that is when the gate is about to be done.
func (w *Env) onVerdict(command string) {
	w.t.Helper()
	hook := Object{"type": "command", "command": "cd " + w.Dir + " && " + command}
	text, err := json.Marshal(Object{"hooks": Object{"PreToolUse": []Object{{"matcher": "verdict", "hooks": []Object{hook}}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.configure(text)
}

// refusedPlans holds that so many plans were refused since all was fixed.
func refusedPlans(n int) func(*testing.T, *Env, pawl.Board) {
	return func(t *testing.T, w *Env, b pawl.Board) {
		t.Helper()
		got := 0
		for _, line := range refusals(w.logs(b)) {
			if line == "plan: "+criteriaText {
				got++
			}
		}
		if got != n || len(b.Mission.Criteria.Approval.Tests) > 0 {
			t.Errorf("%d of %d plans were refused, and agreed is %+v", got, n, b.Mission.Criteria.Approval)
		}
	}
}

const criteriaText = "criteria, checks and approvals are fixed since the first plan and cannot change; plan only tasks"
