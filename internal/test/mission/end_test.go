//go:build e2e

package mission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// soon bounds how long a mission may take that ends by a bound of its own. It is
// far more than it needs.
const soon = 2 * time.Minute

// ends has the mission run and fails unless it ends in this state, soon, with
// nobody at work and nothing left.
func (w *Env) ends(state pawl.MissionState, args ...string) pawl.Board {
	w.t.Helper()
	began := time.Now()
	out := w.Run(append(args, "--check", held, "Write it down.")...)
	if took := time.Since(began); took > soon {
		w.t.Errorf("it took %s", took)
	}
	b := w.Board()
	if out.Code == 0 || b.State != state || b.Mission.Sealed != nil {
		w.t.Fatalf("exit %d, the mission is %s\n%s\n%s\n%s", out.Code, b.State, out.Stdout, out.Stderr, w.reported(b))
	}
	for _, s := range b.Team {
		if s.State() != pawl.StateIdle {
			w.t.Errorf("%s is %s", s.Title, s.State())
		}
	}
	return b
}

// blocked is why the mission is.
func blocked(b pawl.Board) string {
	if b.Mission.Blocked == nil {
		return ""
	}
	return b.Mission.Blocked.Reason
}

func many[T any](n int, what T) (list []any) {
	for range n {
		list = append(list, what)
	}
	return list
}

// TestSaysDone: a Commander that says that all is done, again and again, is
// blocked, with and without a plan.
func TestSaysDone(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]any{
		"without a plan": nil,
		"with a plan":    {Plan(Task("T1", "Write it", nil))},
		"by printing it": {"<mission_seal>SEALED</mission_seal>", Plan(Task("T1", "Write it", nil)), "<mission_seal>SEALED</mission_seal>"},
		"in circles":     {Plan(Task("T1", "One", nil, "T2"), Task("T2", "Two", nil, "T1")), Delegate(), Seal()},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			w.Lead(append(before, many(pawl.MissionNudges+1, "All is done.")...)...)
			b := w.ends(pawl.MissionBlocked)
			if !strings.Contains(blocked(b), "without progress") {
				t.Errorf("it is blocked: %q", blocked(b))
			}
			w.clean()
		})
	}
}

// TestPrintsSeal: the words ask the gate, as the tool does, once all is merged.
func TestPrintsSeal(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "<mission_seal>SEALED</mission_seal>")
	w.goes()
}

// TestSealsWithoutMending: the gate is not asked twice about one commit.
func TestSealsWithoutMending(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
	w.As("reviewer", Verdict(false, "goal"), "I have looked.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal())
	w.Lead(many(3, Line{Expect: "(?s)not sealed|Not sealed|nothing has changed", Calls: []Call{Seal()}})...)
	w.Lead(many(pawl.MissionNudges+2, "<mission_seal>SEALED</mission_seal>")...)
	b := w.ends(pawl.MissionBlocked)
	if b.Mission.Round != 1 {
		t.Errorf("the gate was asked %d times", b.Mission.Round)
	}
	w.clean()
}

// TestBudget: what workers spend while the Commander waits counts, and ends them.
func TestBudget(t *testing.T) {
	t.Parallel()
	w := notes(t)
	for _, id := range []string{"T1", "T2"} {
		w.As("worker:"+id, Line{Calls: []Call{WriteFile(id+".txt", "a\n")}, DelayMS: 3000, Usage: Object{"input": 600, "output": 1}}, Line{Text: "I think.", Fault: "hang"})
	}
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.")
	b := w.ends(pawl.MissionStopped, "--max-tokens", "1000", "--stuck", "20s") // which has it looked every 5 seconds
	if b.Ended == nil || b.Ended.Reason != pawl.ReasonBudget {
		t.Errorf("it ended: %+v", b.Ended)
	}
}

// sharedBudget has eight workers work at once, at a dollar a reply, for six dollars.
func (w *Env) sharedBudget() (args []string) {
	paid := Object{"input": 10, "cost": 1_000_000_000}
	var tasks []Object
	for i := range 8 {
		id := fmt.Sprintf("T%d", i+1)
		tasks = append(tasks, Task(id, "Write "+id, []string{id + ".txt"}))
		for k := range 8 {
			w.As("worker:"+id, Line{Calls: []Call{WriteFile(id+".txt", fmt.Sprintln(k))}, DelayMS: 20, Usage: paid})
		}
	}
	w.Lead(Line{Calls: []Call{Plan(tasks...)}, Usage: paid}, Line{Calls: []Call{Delegate()}, Usage: paid}, Line{Text: "I wait.", Usage: paid}, Line{Text: "I wait.", Usage: paid})
	return []string{"--workers", "8", "--max-cost", "6"}
}

// spentAll wants that the mission ended when it had cost six dollars, and that this is
// the sum of what the sessions have cost, and what its turn reports.
func (w *Env) spentAll(b pawl.Board) {
	w.t.Helper()
	if b.Ended == nil || b.Ended.Reason != pawl.ReasonBudget {
		w.t.Fatalf("it ended: %+v\n%s", b.Ended, w.reported(b))
	}
	var sum pawl.Money
	for _, s := range append(b.Team, b.Session) {
		for _, e := range w.Export(w.t, string(s.ID)) {
			used, _ := e.ModelUsage()
			sum += used.Usage.Cost
		}
	}
	got := []pawl.Money{sum, b.Usage.Cost, b.Session.Usage.Cost, b.Ended.Usage.Cost}
	if want := slices.Repeat([]pawl.Money{pawl.MoneyOf(6)}, 4); !slices.Equal(got, want) {
		w.t.Errorf("the sessions, the board, the row and the turn have cost %v, want %v", got, want)
	}
}

// TestSharedBudget: workers that work in parallel share the budget of the mission.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.spentAll(w.ends(pawl.MissionStopped, w.sharedBudget()...))
}

// TestBadReviewer: a reviewer that gives no verdict that can be read does not seal.
func TestBadReviewer(t *testing.T) {
	t.Parallel()
	for name, replies := range map[string][]any{
		"says nothing": {"It is fine, seal it."},
		"rubbish":      {Call{"verdict", Object{"criteria": "all hold"}}, Call{"verdict", Object{"criteria": []Object{}}}, "It is fine."},
		"other words":  {Verdict(true, "another"), "It is fine."},
		"fails":        {Line{Fault: "error"}},
		"is not asked": {Seal(), "It is fine."},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
			w.As("reviewer", replies...)
			w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(),
				Line{Expect: "review-unreadable", Calls: []Call{{"block", Object{"reason": "Nobody reviews."}}}}, "I need somebody.")
			b := w.ends(pawl.MissionBlocked)
			if blocked(b) != "Nobody reviews." {
				t.Errorf("it is blocked: %q", blocked(b))
			}
			w.clean()
		})
	}
}

// TestReviewerHangs: one that gives no sign is ended, as a worker is, and the time
// of the mission bounds it too.
func TestReviewerHangs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state pawl.MissionState
		args  []string
	}{
		"without a sign": {pawl.MissionBlocked, []string{"--stuck", "2s"}},
		"for too long":   {pawl.MissionStopped, []string{"--max-time", "12s", "--stuck", "8s"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
			w.As("reviewer", read("a.txt"), Line{DelayMS: 5000, Calls: []Call{read("a.txt")}}, Line{Text: "I look at it.", Fault: "hang"})
			w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(),
				Line{Expect: "gave no verdict", Calls: []Call{{"block", Object{"reason": "Nobody reviews."}}}}, "I need somebody.")
			b := w.ends(test.state, test.args...)
			if test.state == pawl.MissionStopped && b.Ended.Reason != pawl.ReasonBudget {
				t.Errorf("it ended: %+v", b.Ended)
			}
			w.clean()
		})
	}
}

// TestNoPlan: a planner that plans nothing is reported to the Commander, who plans.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("planner", "I would rather not.")
	w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
	w.Lead(Call{"delegate", Object{"planner": "Plan it."}}, Line{Expect: "(?s)no plan.*rather not", Calls: []Call{Plan(Task("T1", "Write it", nil))}},
		Delegate(), "I wait.", Seal(), "Done.")
	w.goes()
}
