//go:build crashtest && linux

package crash

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// asking is a turn in which a person permits a call, denies one with a word,
// and ends it with a no.
var asking = struct {
	script  string
	answers map[string]string // by the file that is asked for
}{
	script: `{"calls":[{"name":"write","input":{"path":"a","content":"x\n"}},{"name":"write","input":{"path":"b","content":"x\n"}}]}
{"calls":[{"name":"list"},{"name":"write","input":{"path":"c","content":"x\n"}},{"name":"write","input":{"path":"d","content":"x\n"}}]}
{"text":"went on"}
`,
	answers: map[string]string{"a": "y", "b": "not this one", "c": "n"},
}

// attend sits at the terminal and answers what is asked, until pawl ends.
func attend(x *harness.Terminal) (code int) {
	ended := make(chan int, 1)
	go func() { ended <- x.Wait() }()
	for answered := 0; ; time.Sleep(5 * time.Millisecond) { // nothing tells when a screen changes
		select {
		case code := <-ended:
			return code
		default:
		}
		screen := x.Screen()
		asked := strings.Split(screen, "or type what to do instead: ")
		if len(asked)-1 <= answered {
			continue
		}
		for name, word := range asking.answers {
			if strings.Contains(asked[answered], "+++ b/"+name+"\n") {
				x.Type(word + "\n")
			}
		}
		answered++
	}
}

// TestCrashWhileAsking kills the program before and after each append of a turn
// in which a person is asked: before and after the question, the answer, the result
// . Each is resumed to the same end, and nothing is asked twice that
// was answered.
func TestCrashWhileAsking(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "pawl.db")
	type end struct {
		Reason   pawl.Reason
		Statuses map[pawl.CallID]pawl.CallStatus
		Asks     int
		A, BCD   string
	}
	observe := func(b *harness.Workdir) end {
		e := end{Statuses: map[pawl.CallID]pawl.CallStatus{}, A: b.Read(t, "a"), BCD: b.Read(t, "b") + b.Read(t, "c") + b.Read(t, "d")}
		for _, event := range b.Export(t, string(b.Sessions(t)[0].ID)) {
			switch body := event.Body.(type) {
			case pawl.Asked:
				e.Asks++
			case pawl.CallFinished:
				e.Statuses[body.Call] = body.Status
			case pawl.TurnFinished:
				e.Reason = body.Reason
			default: // not compared
			}
		}
		return e
	}
	newProject := func() *harness.Workdir {
		b, _ := newEnv(t, store)
		b.Write(t, "script.jsonl", asking.script)
		return b
	}
	args := []string{"run", "--mode", "ask", "--model", "script:script.jsonl", "go"}
	b := newProject()
	if code := attend(b.Terminal(t, args...)); code != 3 {
		t.Fatalf("the uncrashed run ended with %d", code)
	}
	want := observe(b)
	if want.Asks != 3 || want.A != "x\n" || want.BCD != "" || want.Reason != pawl.ReasonPermissionDenied {
		t.Fatalf("the uncrashed run is not as scripted: %+v", want)
	}
	for _, when := range []string{"before", "after"} {
		killed := each(t, 100, func(i int) bool {
			b := newProject()
			env := b.Env
			b.Env = append(b.Env[:len(b.Env):len(b.Env)], fmt.Sprintf("PAWL_CRASH=%s:%d", when, i+1))
			if attend(b.Terminal(t, args...)) != -1 {
				return false
			}
			b.Env = env
			accepted, running := interruption(t, b)
			if !accepted || b.Sessions(t)[0].State() == pawl.StateIdle {
				return true
			}
			attend(b.Terminal(t, "resume"))
			got := observe(b)
			if len(running) > 0 { // a was being written: nobody knows how far it got
				got.Statuses["call_1_1"], got.A = pawl.CallDone, want.A
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("killed %s append %d (-uncrashed, +crashed and resumed):\n%s", when, i+1, diff)
			}
			return true
		})
		if killed < 15 {
			t.Errorf("only %d kills %s an append: the matrix is not what it should be", killed, when)
		}
		t.Logf("%d kills %s an append, each resumed to the same end", killed, when)
	}
}
