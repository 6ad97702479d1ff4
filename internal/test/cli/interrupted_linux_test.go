//go:build e2e

package cli

import (
	"encoding/json"
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

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

const (
	textDiscarded = "None of its changes to the workspace were applied."
	textApplied   = "its changes were applied: 2 files."
	textUnknown   = "The outcome of this call is unknown"
)

// newInterrupted returns a directory with two files and a script whose command changes both.
func newInterrupted(t *testing.T, tags, command string) (b *harness.Workdir, data string) {
	t.Helper()
	b = harness.NewWorkdir(t, harness.Binary(t, tags), harness.Stores["sqlite"](t))
	data = t.TempDir()
	b.Env = append(b.Env, "PAWL_DATA="+data, "HOME="+t.TempDir(), "PAWL_CONFIG="+filepath.Join(data, "pawl.json"), "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=")
	b.Write(t, "a", "old\n")
	b.Write(t, "b", "old\n")
	b.Write(t, "s.jsonl", fmt.Sprintf("{\"calls\":[{\"name\":\"bash\",\"input\":{\"command\":%q}}]}\n{\"text\":\"went on\"}\n", command))
	return b, data
}

func runInterrupted(b *harness.Workdir) *exec.Cmd {
	return b.Command("run", "--mode", "auto", "--model", "script:s.jsonl", "go")
}

// resumed is what a resumed session has.
type resumed struct {
	call    pawl.CallFinished
	changed []string // files_changed of the resumed turn
}

// callRuns reports whether the call has started and has no result.
func callRuns(t *testing.T, b *harness.Workdir) (runs bool) {
	t.Helper()
	for _, s := range b.Sessions(t) {
		for _, e := range b.Export(t, string(s.ID)) {
			switch e.Body.(type) {
			case pawl.CallStarted:
				runs = true
			case pawl.CallFinished:
				runs = false
			default:
			}
		}
	}
	return runs
}

// resumeInterrupted resumes the session. It fails the test if the call does not have one result then.
func resumeInterrupted(t *testing.T, b *harness.Workdir) (r resumed) {
	t.Helper()
	var out struct {
		Text         string   `json:"text"`
		FilesChanged []string `json:"files_changed"`
	}
	printed := b.Must(t, "resume", "--format", "json").Stdout
	if err := json.Unmarshal([]byte(printed), &out); printed != "" && (err != nil || out.Text != "went on") {
		t.Fatalf("resume printed %q, %v", printed, err)
	}
	r.changed = out.FilesChanged
	results := 0
	for _, e := range b.Export(t, string(b.Sessions(t)[0].ID)) {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			r.call = f
			results++
		}
	}
	if results != 1 {
		t.Fatalf("the call has %d results", results)
	}
	return r
}

// consistent fails the test if the result of an interrupted call does not agree with the files.
func consistent(t *testing.T, b *harness.Workdir, r resumed) {
	t.Helper()
	a, other := b.Read(t, "a"), b.Read(t, "b")
	text := r.call.Result.Content
	switch {
	case a != other:
		t.Errorf("the files have %q and %q", a, other)
	case strings.Contains(text, textDiscarded) && (a != "old\n" || r.call.Status != pawl.CallCanceled || r.call.Result.Changed != nil),
		strings.Contains(text, textApplied) && (a != "new\n" || r.call.Status != pawl.CallDone || !slices.Equal(r.call.Result.Changed, []string{"a", "b"})),
		strings.Contains(text, textUnknown) && r.call.Status != pawl.CallUnknown,
		!strings.Contains(text, textDiscarded) && !strings.Contains(text, textApplied) && !strings.Contains(text, textUnknown):
		t.Errorf("the files have %q, and the result is %s %q: %s", a, r.call.Status, r.call.Result.Changed, text)
	}
}

// TestInterruptedCommand: if Pawl ends while a command runs, the resumed session says that it had no effect, except for
// what it could do outside.
func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		signal os.Signal
		status pawl.CallStatus
		want   string
		mark   string
	}{
		"killed":       {`{}`, syscall.SIGKILL, pawl.CallCanceled, textDiscarded + " You can run it again.", "[canceled]"},
		"terminated":   {`{}`, syscall.SIGTERM, pawl.CallCanceled, textDiscarded + " You can run it again.", "[canceled]"},
		"with network": {`{"sandbox":{"network":["example.org"]}}`, syscall.SIGKILL, pawl.CallUnknown, textDiscarded + " It was not run again. It could change things at example.org: the outcome there is unknown.", "[unknown]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, data := newInterrupted(t, "", "echo new >a; echo new >b; sleep 600")
			if err := os.WriteFile(filepath.Join(data, "pawl.json"), []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := runInterrupted(b)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "the command writes", func() bool {
				found, err := filepath.Glob(filepath.Join(data, "transactions", "*", "upper", "b"))
				return err == nil && len(found) == 1
			})
			_ = cmd.Process.Signal(tt.signal)
			_ = cmd.Wait()
			if !callRuns(t, b) {
				t.Fatal("the call does not run")
			}
			r := resumeInterrupted(t, b)
			if r.call.Status != tt.status || !strings.Contains(r.call.Result.Content, tt.want) || b.Read(t, "a") != "old\n" || b.Read(t, "b") != "old\n" {
				t.Errorf("%s: %s", r.call.Status, r.call.Result.Content)
			}
			if out := b.Must(t, "session", "show", "last").Stdout; !strings.Contains(out, tt.mark) {
				t.Errorf("%s is not in:\n%s", tt.mark, out)
			}
			if left, err := os.ReadDir(filepath.Join(data, "transactions", "calls")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
}

// TestInterruptedAtAppend kills Pawl before and after each append to the log. The result of the command says whether
// its changes were applied, also if they were applied and only the result was not recorded.
func TestInterruptedAtAppend(t *testing.T) {
	t.Parallel()
	applied := 0
	for n, more := 1, true; more; n++ {
		for _, when := range []string{"before", "after"} {
			b, _ := newInterrupted(t, "crashtest", "echo new >a; echo new >b")
			cmd := runInterrupted(b)
			cmd.Env = append(cmd.Env, fmt.Sprintf("PAWL_CRASH=%s:%d", when, n))
			more = harness.Wait(t, cmd).Code == -1
			if !callRuns(t, b) {
				continue
			}
			r := resumeInterrupted(t, b)
			consistent(t, b, r)
			if strings.Contains(r.call.Result.Content, textApplied) {
				applied++
				if !slices.Equal(r.changed, []string{"a", "b"}) {
					t.Errorf("files_changed is %q", r.changed)
				}
			}
		}
	}
	if applied == 0 {
		t.Error("no kill was between the command and its result")
	}
}

// TestInterruptedAnytime kills Pawl at any time from the begin of a command on, and again while it resumes.
func TestInterruptedAnytime(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	kill := func(cmd *exec.Cmd, begun func() bool, within time.Duration) {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "the begin", begun)
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(within))), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		_ = cmd.Wait() // it was killed, or was faster
		timer.Stop()
	}
	said := map[pawl.CallStatus]int{}
	for range *transactions {
		b, data := newInterrupted(t, "", "echo new >a; echo new >b; sleep 0.01")
		kill(runInterrupted(b), func() bool {
			entries, err := os.ReadDir(filepath.Join(data, "transactions", "calls"))
			return err == nil && len(entries) > 0 || b.Read(t, "a") == "new\n"
		}, 100*time.Millisecond)
		if !callRuns(t, b) {
			continue
		}
		kill(b.Command("resume"), func() bool { return true }, 200*time.Millisecond)
		r := resumeInterrupted(t, b)
		consistent(t, b, r)
		said[r.call.Status]++
	}
	t.Logf("the results of interrupted commands: %v", said)
}
