//go:build crashtest

package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// parallel bounds how many runs of the matrix go on at once.
const parallel = 3

// each runs f for 0 … n-1, some at a time, until one returns false or the test has failed.
func each(t *testing.T, n int, f func(i int) bool) int {
	t.Helper()
	var next, done atomic.Int64
	var over atomic.Bool
	finished := make(chan bool)
	for range parallel {
		go func() {
			defer func() { finished <- true }() // also when f ends the test
			for !over.Load() && !t.Failed() {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if !f(i) {
					over.Store(true)
					return
				}
				done.Add(1)
			}
		}()
	}
	for range parallel {
		<-finished
	}
	return int(done.Load())
}

// TestCrashAtEveryAppend kills the program before and after each of its appends.
func TestCrashAtEveryAppend(t *testing.T) {
	t.Parallel()
	for name, newStore := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			want, _ := baseline(t, store)
			first, stride := stride(t, name)
			for _, when := range []string{"before", "after"} {
				killed := each(t, 1000, func(i int) bool {
					n := first + i*stride + 1
					ok := crash(t, store, want, at(when, n))
					if t.Failed() {
						t.Logf("^ killed %s append %d", when, n)
					}
					return ok
				})
				if killed < 3*steps/stride-1 {
					t.Errorf("only %d kills %s an append: the matrix is not what it should be", killed, when)
				}
				t.Logf("%s: %d kills %s an append, each resumed to the same end", name, killed, when)
			}
		})
	}
}

// instants is how often the program is killed at a random instant.
var instants = map[bool]int{false: 24, true: 50}[full]

// TestCrashAtRandomInstants kills the program at random instants.
func TestCrashAtRandomInstants(t *testing.T) {
	t.Parallel()
	for name, newStore := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			want, took := baseline(t, store)
			var killed atomic.Int64
			each(t, instants, func(int) bool {
				d := time.Duration(rand.Int64N(int64(took)))
				if crash(t, store, want, after(d)) {
					killed.Add(1)
				}
				if t.Failed() {
					t.Logf("^ killed after %s", d)
				}
				return true
			})
			if int(killed.Load()) < instants/2 {
				t.Errorf("only %d of %d runs were killed: too few to say anything", killed.Load(), instants)
			}
			t.Logf("%s: %d kills at random instants within %s, each resumed to the same end", name, killed.Load(), took.Round(time.Millisecond))
		})
	}
}

// TestCrashStorm kills every resumption, too, until one gets through.
func TestCrashStorm(t *testing.T) {
	t.Parallel()
	for name, newStore := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			want, took := baseline(t, store)
			b, mark := newEnv(t, store)
			var running []pawl.CallID
			kills := 0
			for args := runArgs(); after(took/8+time.Duration(rand.Int64N(int64(took/4))))(t, b.Command(args...)); kills++ {
				survivors(t, mark)
				if accepted, calls := interruption(t, b); accepted {
					for _, id := range calls { // a resumption may be killed before it has said what happened to one
						if !slices.Contains(running, id) {
							running = append(running, id)
						}
					}
					args = []string{"resume"}
				}
				if kills == 200 {
					t.Fatal("no end after 200 kills: it does not move forward")
				}
			}
			compare(t, want, observe(t, b), running)
			t.Logf("%s: %d kills in one session", name, kills)
		})
	}
}

// TestSecondProcess: a session that one process works on is refused to a
// second or queued, as asked; when the first is killed the second goes on.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	for name, newStore := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			b, mark := newEnv(t, newStore(t))
			b.Write(t, "script.jsonl", `{"calls":[{"name":"bash","input":{"command":"touch running; sleep 60"}}]}
{"text":"first is done"}
{"text":"second is done"}
`)
			first := b.Command(runArgs()...)
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "the first process to run its command", func() bool {
				return len(processes(mark)) > 0 && len(b.Sessions(t)) == 1
			})
			id := string(b.Sessions(t)[0].ID)

			refused := b.Run(t, "run", "--mode", "yolo", "--session", id, "second")
			if refused.Code != 1 || !strings.Contains(refused.Stderr, "busy") {
				t.Errorf("a second prompt: exit %d, %s; want it refused as busy", refused.Code, refused.Stderr)
			}
			if out := b.Run(t, "resume", id); out.Code != 1 || !strings.Contains(out.Stderr, "busy") {
				t.Errorf("resume of a session at work: exit %d, %s; want it refused as busy", out.Code, out.Stderr)
			}
			if out := b.Run(t, "session", "delete", id); out.Code != 1 || !strings.Contains(out.Stderr, "busy") {
				t.Errorf("delete of a session at work: exit %d, %s; want it refused as busy", out.Code, out.Stderr)
			}

			queued := make(chan harness.Output, 1)
			go func() {
				queued <- harness.Wait(t, b.Command("run", "--mode", "yolo", "--session", id, "--if-busy", "queue", "second"))
			}()
			wait.Until(t, "the prompt to be queued", func() bool { return b.Sessions(t)[0].Queued == 1 })
			if err := first.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = first.Wait()
			select {
			case out := <-queued:
				if out.Code != 0 || out.Stdout != "second is done\n" {
					t.Errorf("the queued prompt: exit %d, %q %s", out.Code, out.Stdout, out.Stderr)
				}
			case <-time.After(time.Minute):
				t.Fatal("the second process did not go on after the first was killed")
			}
			survivors(t, mark)
			var texts []string
			for _, m := range harness.Conversation(t, b.Export(t, id)) {
				texts = append(texts, fmt.Sprintf("%s: %.30s", m.Role, m.Text()))
			}
			want := "user: do the steps|assistant: |tool: |assistant: first is done|user: second|assistant: second is done"
			if got := strings.Join(texts, "|"); got != want {
				t.Errorf("conversation\n got %s\nwant %s", got, want)
			}
		})
	}
}
