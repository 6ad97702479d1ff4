//go:build crashtest && e2e

package mission

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

const (
	kills     = 30 // in all
	killsEach = 4  // at most, of one mission
)

// quickMission is calcMission with checks that cost nothing, so that most of its
// time is pawl's own.
func quickMission(t testing.TB, bin string) *Env {
	w := New(t, bin, map[string]string{"a.txt": "base\n"})
	var tasks []Object
	for _, p := range parts {
		tasks = append(tasks, Task(p.id, "Write "+p.name, []string{p.name + ".txt"}, p.after...))
		// A call that a kill hits is not run again: its outcome is unknown. So the worker
		// makes sure, once more than it can be killed, and leaves alone what is whole: the
		// last call can be hit too, between the emptying of a file and the writing to it.
		write := "test -s %[1]s.txt || printf 'one\\ntwo\\n' > %[1]s.txt; test -s made-%[1]s.txt || echo x > made-%[1]s.txt"
		for range killsEach + 1 {
			w.As("worker:"+p.id, Line{Calls: []Call{Shell(fmt.Sprintf(write, p.name))}, DelayMS: 10})
		}
		w.As("worker:"+p.id, Line{Text: "It is written.", DelayMS: 30})
	}
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(tasks...), Delegate(), "I wait for them.", Seal(), "All is done.")
	return w
}

func quickArgs() []string {
	return []string{"--workers", "3", "--check", "grep -q base a.txt", "--check", Changed, "Write six files."}
}

// TestKilled kills missions at any instant and goes on with them: each ends sealed,
// no task is merged twice, and the work of each is whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	bin := harness.Binary(t, "")
	w := quickMission(t, bin)
	began := time.Now()
	if out := w.Run(quickArgs()...); out.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	whole := time.Since(began)
	want := w.result()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("a whole mission takes %s; the seed is %d", whole.Round(time.Millisecond), seed)
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret
	killed := 0
	for i := 0; killed < kills; i++ {
		if i == 4*kills {
			t.Fatalf("only %d kills hit a mission at work", killed)
		}
		w := quickMission(t, bin)
		killed += w.live(r, &whole)
		if diff := cmp.Diff(want, w.result()); diff != "" {
			t.Errorf("mission %d (-whole +killed):\n%s", i, diff)
		}
		w.nothingLeft()
	}
	t.Logf("missions were killed %d times", killed)
}

// TestSharedBudgetKilled: a mission that is killed and resumed spends its budget once.
func TestSharedBudgetKilled(t *testing.T) {
	t.Parallel()
	bin := harness.Binary(t, "crashtest")
	for _, n := range []int{30, 45, 60} {
		w := New(t, bin, map[string]string{"a.txt": "base\n"})
		cmd := w.Command(append(w.sharedBudget(), "--check", "grep -q base a.txt", "Write eight files.")...)
		cmd.Env = append(cmd.Env, fmt.Sprintf("PAWL_CRASH=after:%d", n))
		if out := harness.Wait(t, cmd); out.Code != -1 {
			t.Fatalf("not killed after append %d\n%s\n%s", n, out.Stdout, out.Stderr)
		}
		w.Workdir.Run(t, "resume", string(w.Board().Session.ID))
		w.spentAll(w.Board())
	}
}

// live runs a mission, kills it some times, and has it go on to its end. It returns
// how many kills came before the end. A mission that no kill hit and that was faster than whole sets it: the machine
// may have been busy before.
func (w *Env) live(r *rand.Rand, whole *time.Duration) (killed int) {
	w.t.Helper()
	cmd := w.Command(quickArgs()...)
	for n := 0; ; n++ {
		after := time.Duration(-1)
		if n < killsEach {
			after = time.Duration(r.Int64N(int64(*whole)))
		}
		began := time.Now()
		out, hit := runFor(w.t, cmd, after)
		if hit {
			killed++
		} else if n == 0 {
			*whole = min(*whole, time.Since(began))
		}
		board, begun := w.begun()
		switch {
		case begun && board.Mission.Sealed != nil && board.Session.State() == pawl.StateIdle:
			return killed
		case !hit && out.Code != 0:
			w.t.Fatalf("exit %d after %d kills\n%s\n%s", out.Code, killed, out.Stdout, out.Stderr)
		case n > killsEach+3:
			w.t.Fatalf("it does not end\n%s\n%s", out.Stdout, out.Stderr)
		case begun:
			cmd = w.Workdir.Command("resume", string(board.Session.ID))
		default:
			cmd = w.Command(quickArgs()...)
		}
	}
}

// runFor runs a command and kills it after a time; never if that is negative.
func runFor(t testing.TB, cmd *exec.Cmd, after time.Duration) (harness.Output, bool) {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after >= 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		defer timer.Stop()
	}
	_ = cmd.Wait() // its code tells
	return harness.Output{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}, cmd.ProcessState.ExitCode() < 0
}

// begun returns the mission, if it has come to the store.
func (w *Env) begun() (pawl.Board, bool) {
	w.t.Helper()
	if len(w.Sessions(w.t)) == 0 {
		return pawl.Board{}, false
	}
	return w.Board(), true
}

// result is what a mission has come to, without ids and times: its tasks, the
// commits on its branch, and the files there.
func (w *Env) result() []string {
	w.t.Helper()
	b := w.Board()
	lines := []string{string(b.State)}
	for _, t := range b.Mission.Tasks {
		lines = append(lines, fmt.Sprintf("%s %s", t.Task.ID, t.Phase))
	}
	merges := strings.Fields(w.Git("log", "--format=%(trailers:key=Pawl-Task,valueonly)", b.Mission.Criteria.Base+".."+b.Mission.Branch))
	slices.Sort(merges) // those that run side by side end in any order
	lines = append(lines, "merged: "+strings.Join(merges, " "))
	for _, name := range strings.Fields(w.Git("ls-tree", "--name-only", b.Mission.Branch)) {
		lines = append(lines, name+": "+w.Git("show", b.Mission.Branch+":"+name))
	}
	return lines
}

// nothingLeft holds that no worktree is left.
func (w *Env) nothingLeft() {
	w.t.Helper()
	for _, v := range w.Env {
		if data, ok := strings.CutPrefix(v, "PAWL_DATA="); ok {
			left, err := filepath.Glob(filepath.Join(data, "worktrees", "*", "0*"))
			if err != nil || len(left) > 0 {
				w.t.Errorf("worktrees are left: %v, %v", left, err)
			}
		}
	}
	if _, err := os.Stat(w.Dir); err != nil {
		w.t.Error(err)
	}
}
