//go:build cheats && e2e

package mission

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// lead are calls that are for a Commander alone.
func lead() []Call {
	return []Call{Seal(), Plan(Task("T9", "Something else", nil)), Delegate(), Verdict(true, "goal"),
		{"task", Object{"agent": "general", "prompt": "Do it."}}, {"block", Object{"reason": "no"}}, {"task_cancel", Object{"task": "T1"}}}
}

// noTool are the refusals of tools that somebody does not have.
func noTool(names ...string) (list []string) {
	for _, n := range names {
		list = append(list, n+": there is no tool \""+n+"\"")
	}
	return list
}

// roles are those that do what another is there for.
var roles = []story{
	{
		name: "a worker leads", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker", lead(), words, "It is sealed.")
			w.As("reviewer", Verdict(false, "goal"), "It does not hold.")
			w.Lead(task1(Seal(), gaveUp(), "It is blocked.")...)
		},
		want:    []string{"T1 merged", "fault: review goal", "blocked by commander"},
		refused: noTool("seal", "plan", "delegate", "verdict", "task", "block", "task_cancel"), holds: unticked,
	},
	{
		name: "a reviewer mends what it reviews", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker", words, "It is written.")
			w.As("reviewer", append(lead()[:3:3], WriteFile("new.txt", "two\n"), Shell("sh -c 'echo two > new.txt'"), Call{"edit", Object{"path": "new.txt", "old": "one", "new": "two"}}), "It is mended.")
			w.Lead(task1(Seal(), gaveUp(), "It is blocked.")...)
		},
		want:    []string{"T1 merged", "fault: review-unreadable reviewer", "blocked by commander"},
		refused: noTool("seal", "plan", "delegate", "write", "edit"), holds: left("one"),
	},
	{
		name: "a Commander does it itself", files: note, args: noted,
		team: func(w *Env) {
			w.As("worker", words, "It is written.")
			w.As("reviewer", Verdict(false, "goal"), "It does not hold.")
			w.Lead(task1([]Call{WriteFile("new.txt", "two\n"), Shell("echo two > new.txt"), {"edit", Object{"path": "new.txt", "old": "one", "new": "two"}}, Verdict(true, "goal")},
				Seal(), gaveUp(), "It is blocked.")...)
		},
		want:    []string{"T1 merged", "fault: review goal", "blocked by commander"},
		refused: noTool("write", "bash", "edit", "verdict"), holds: left("one"),
	},
	{
		name: "a planner leads", files: note, args: noted,
		team: func(w *Env) {
			w.As("planner", []Call{Delegate(), Seal(), Verdict(true, "goal"), WriteFile("new.txt", "two\n"), Shell("true")}, "It is done.")
			w.Lead(Call{"delegate", Object{"planner": "Plan it."}}, gaveUp(), "It is blocked.")
		},
		want:    []string{"blocked by commander"},
		refused: append(noTool("delegate", "seal", "verdict", "write", "bash"), "delegate: the planner has written no plan"),
	},
}

// left holds that the branch has what the worker wrote, and the project nothing.
func left(text string) func(*testing.T, *Env, pawl.Board) {
	return func(t *testing.T, w *Env, b pawl.Board) {
		t.Helper()
		if got := w.Git("show", b.Mission.Branch+":new.txt"); got != text || w.Read(t, "new.txt") != "" {
			t.Errorf("the branch has %q, the project %q", got, w.Read(t, "new.txt"))
		}
	}
}
