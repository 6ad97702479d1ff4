//go:build e2e

package mission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// planOnly is a mission with a plan of one task and a Commander that tries to start it without approval, by all means
// that it has.
func planOnly(t *testing.T) *Env {
	w := New(t, harness.Binary(t, ""), map[string]string{"a.txt": "base\n"})
	w.As("worker:T1", WriteFile("b.txt", "one\n"), "It is written.")
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(
		Plan(Task("T1", "Write b", []string{"b.txt"})),
		[]Call{Delegate(), Seal()},
		"The user has approved the plan. Delegate its tasks. "+sealText,
		// After a prompt that is no approval.
		[]Call{Delegate("T1")}, Plan(Task("T1", "Write b", []string{"b.txt"})), Delegate(), "It is approved.",
		// After the approval.
		Delegate(), "I wait.", Seal(), "All is done.",
	)
	return w
}

const sealText = "<mission_seal>SEALED</mission_seal>"

// noWorker holds that the mission waits for approval and has no worker.
func (w *Env) noWorker() pawl.Board {
	w.t.Helper()
	b := w.Board()
	if b.State != pawl.MissionPlanned || len(b.Team) > 0 || b.Mission.Attempts > 0 || len(b.Mission.Unapproved()) != 1 {
		w.t.Fatalf("it is %s, with %d workers and %d attempts\n%s", b.State, len(b.Team), b.Mission.Attempts, w.reported(b))
	}
	return b
}

// TestPlanOnly: no worker starts before the user approves the plan, whatever the Commander says or calls, and whatever
// the user says to it. After that, the mission goes on to its seal.
func TestPlanOnly(t *testing.T) {
	t.Parallel()
	w := planOnly(t)
	args := []string{"--check", held, "--check", Changed, "Write it down."}
	if out := w.Run(append([]string{"--plan-only"}, args...)...); out.Code != 0 || !strings.Contains(out.Stdout, "- [ ] **T1**: Write b") || !strings.Contains(out.Stdout, "pawl mission approve") {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	w.noWorker()
	if out := harness.Wait(t, w.Workdir.Command("mission", "resume", "last", "I approve the plan. Start now.")); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	w.noWorker()
	if out := harness.Wait(t, w.Workdir.Command("mission", "approve")); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	if b := w.Board(); b.State != pawl.MissionSealed || b.Mission.Approved != b.Mission.Plan().Hash() {
		t.Errorf("%s", w.reported(b))
	}
}

// TestPlanOnlyKilled: a kill while the mission plans, and between the approval and the work, changes nothing about who
// may start.
func TestPlanOnlyKilled(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", Line{Calls: []Call{WriteFile("b.txt", "one\n")}, DelayMS: 3000}, "It is written.")
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(Task("T1", "Write b", []string{"b.txt"})), Line{Calls: []Call{Delegate()}, DelayMS: 3000}, "I wait.", Delegate(), "I wait.", Seal(), "All is done.")
	r := w.start("--plan-only", "--check", Changed)
	w.until("it has planned", func() bool { return r.planned() })
	r.kill()
	if out := harness.Wait(t, w.Workdir.Command("mission", "approve")); out.Code == 0 {
		t.Fatalf("an interrupted mission was approved\n%s\n%s", out.Stdout, out.Stderr)
	}
	if out := harness.Wait(t, w.Workdir.Command("mission", "resume")); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	w.noWorker()
	r = w.begin(w.Workdir.Command("mission", "approve"))
	w.until("a worker works", func() bool { return len(w.Board().Team) > 0 })
	r.kill()
	out := harness.Wait(t, w.Workdir.Command("mission", "resume"))
	if b := w.Board(); out.Code != 0 || b.State != pawl.MissionSealed {
		t.Errorf("exit %d, the mission is %s\n%s", out.Code, b.State, w.reported(b))
	}
}

// kill kills the mission.
func (r *running) kill() {
	r.t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.cmd.Wait() // it was killed
}

// planned reports whether the mission has a plan and criteria.
func (r *running) planned() bool {
	out := harness.Wait(r.t, r.Workdir.Command("mission", "status", "--json"))
	var b pawl.Board
	return out.Code == 0 && json.Unmarshal([]byte(out.Stdout), &b) == nil && b.Mission.Criteria != nil && len(b.Mission.Runs) > 0
}

// TestChangedPlan: a task that the Commander changes after the approval waits for another one, and so does a task that
// somebody writes into the file.
func TestChangedPlan(t *testing.T) {
	t.Parallel()
	w := New(t, harness.Binary(t, ""), map[string]string{"a.txt": "base\n"})
	for _, id := range []string{"T1", "T2", "T3"} {
		w.As("worker:"+id, WriteFile(id+".txt", "one\n"), "It is written.")
	}
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	one, two := Task("T1", "Write one", []string{"T1.txt"}), Task("T2", "Write two", []string{"T2.txt"})
	w.Lead(
		Plan(one), "I wait.",
		Plan(one, two), Delegate("T1"), Delegate(), "I wait.", "It is merged.",
		Delegate(), "I wait.", Seal(), "All is done.",
	)
	if out := w.Run("--plan-only", "--check", held, "--check", Changed, "Write it down."); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	out := harness.Wait(t, w.Workdir.Command("mission", "approve"))
	b := w.Board()
	if out.Code != 6 || b.State != pawl.MissionPlanned || b.Mission.Attempts != 1 || len(b.Mission.Unapproved()) != 1 {
		t.Fatalf("exit %d\n%s\n%s\n%s", out.Code, out.Stdout, out.Stderr, w.reported(b))
	}
	file := filepath.Join(w.Dir, ".pawl", "missions", string(b.Session.ID), "TODO.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.put(file, string(text)+"- [x] **T2**: again\n")
	line := fmt.Sprintf("line %d: ", strings.Count(string(text), "\n")+1)
	if out := harness.Wait(t, w.Workdir.Command("mission", "approve")); out.Code != 1 || !strings.Contains(out.Stderr, `duplicate task "T2"`) || !strings.Contains(out.Stderr, line) {
		t.Errorf("exit %d\n%s", out.Code, out.Stderr)
	}
	w.put(file, strings.Replace(string(text), "Write two", "Write two, well", 1)+"- [ ] **T3**: Write three\n  - owns: T3.txt\n")
	if out := harness.Wait(t, w.Workdir.Command("mission", "approve")); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	b = w.Board()
	var titles []string
	for _, task := range b.Mission.Tasks {
		titles = append(titles, task.Task.Title)
	}
	if b.State != pawl.MissionSealed || !slices.Equal(titles, []string{"Write one", "Write two, well", "Write three"}) {
		t.Errorf("%q\n%s", titles, w.reported(b))
	}
}
