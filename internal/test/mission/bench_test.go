//go:build bench

package mission

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

const (
	crowd     = 20 // workers at once
	crowdStep = 50 // steps of each
	maxTimes  = 2.0
)

// TestBenchWorkers: a step of one of twenty workers costs no more than twice what a
// step of a session costs that is alone. What a mission costs anyway (worktrees,
// merges, checks, the gate) is measured with workers that hardly do anything.
func TestBenchWorkers(t *testing.T) { //nolint:paralleltest // it measures time
	bin := harness.Binary(t, "")
	ratio := 0.0
	for range 3 { // tries: a busy machine may disturb one
		plain := plainStep(t, bin)
		few, _ := crowdRun(t, bin, 1)
		many, wall := crowdRun(t, bin, crowdStep)
		step := (many - few) / (crowd * (crowdStep - 1))
		ratio = float64(step) / float64(plain)
		t.Logf("a step of a session alone costs %s of processor time, of one of %d workers %s: %.2f x   (at most %.1f x)", us(plain), crowd, us(step), ratio, maxTimes)
		t.Logf("the mission with %d steps took %s; what it costs without its steps is %s of processor time", crowd*crowdStep, wall.Round(time.Millisecond), few.Round(time.Millisecond))
		if ratio <= maxTimes {
			return
		}
	}
	t.Logf("over the goal: a worker's step costs %.2f times a plain one's, at most %.1f times is meant", ratio, maxTimes)
}

func us(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

// look is a step's call: another one each time, or it would be a circle.
func look(n int) Call { return Call{"read", Object{"path": "a.txt", "limit": n + 1}} }

// plainStep is what a step of a session alone costs, in processor time.
func plainStep(t *testing.T, bin string) time.Duration {
	t.Helper()
	cost := func(steps int) time.Duration {
		w := New(t, bin, map[string]string{"a.txt": "hello\n"})
		for i := range steps {
			w.Lead(look(i))
		}
		w.Lead("That was it.")
		cmd := w.Workdir.Command("run", "--model", "script:"+w.Script(), "--mode", "guard", "Look.")
		if out := harness.Wait(t, cmd); out.Code != 0 {
			t.Fatalf("exit %d\n%s", out.Code, out.Stderr)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return (cost(crowd*crowdStep) - cost(crowd)) / (crowd * (crowdStep - 1))
}

// crowdRun runs a mission of twenty workers with so many steps each, and returns
// what it cost in processor time.
func crowdRun(t *testing.T, bin string, steps int) (cost, wall time.Duration) {
	t.Helper()
	w := New(t, bin, map[string]string{"a.txt": "hello\n"})
	var tasks []Object
	for i := range crowd {
		tasks = append(tasks, Task(fmt.Sprintf("T%d", i+1), "Look", []string{fmt.Sprintf("f%d.txt", i)}))
	}
	for i := range steps {
		w.As("worker", look(i))
	}
	w.As("worker", "That was it.")
	w.As("worker:T1", WriteFile("f0.txt", "done\n"))
	for i := range steps - 1 {
		w.As("worker:T1", look(i))
	}
	w.As("worker:T1", "That was it.")
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(tasks...), Delegate(), "I wait for them.", Seal(), "All is done.")
	cmd := w.Command("--workers", fmt.Sprint(crowd), "--check", "grep -q hello a.txt", "--check", Changed, "Look.")
	began := time.Now()
	if out := harness.Wait(t, cmd); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(began)
}
