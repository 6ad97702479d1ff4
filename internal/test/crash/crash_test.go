//go:build crashtest

// Package crash kills the real program at every append and at random
// instants, resumes it, and compares what is left with an uncrashed run.
package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// writeScript writes a script of some steps. Each appends a line to out.txt by a
// shell command; some also read or write files, and one leaves a daemon behind.
func writeScript(t *testing.T, b *harness.Workdir) {
	var s strings.Builder
	for i := 1; i < steps; i++ {
		calls := fmt.Sprintf(`{"name":"bash","input":{"command":"sleep 0.005; echo step %d >> out.txt; sleep 0.002"}}`, i)
		if i == 3 { // a daemon that outlives its command must not outlive pawl
			calls = strings.Replace(calls, "sleep 0.005;", "setsid sleep 300 > /dev/null 2>&1 &", 1)
		}
		switch i % 4 {
		case 1:
			calls += `,{"name":"list","input":{"path":"."}},{"name":"read","input":{"path":"fixed.txt"}}`
		case 2:
			calls = fmt.Sprintf(`{"name":"write","input":{"path":"step%d.txt","content":"written in step %d\n"}},`, i, i) + calls
		}
		fmt.Fprintf(&s, `{"text":"step %d","deltas":3,"delay_ms":1,"calls":[%s],"usage":{"input":%d,"output":2}}`+"\n", i, calls, i)
	}
	s.WriteString(`{"text":"all steps are done","usage":{"input":1,"output":1}}` + "\n")
	b.Write(t, "script.jsonl", s.String())
	b.Write(t, "fixed.txt", "this file never changes\n")
}

// newEnv is a working directory with the script in it. Every process of it, and all that
// they start, carry a mark by which the test finds what is left of them.
func newEnv(t *testing.T, store string) (b *harness.Workdir, mark string) {
	t.Helper()
	b = harness.NewWorkdir(t, harness.Binary(t, "crashtest"), store)
	mark = fmt.Sprintf("PAWL_CRASHTEST=%s", filepath.Base(b.Dir)+fmt.Sprint(rand.Uint64()))
	b.Env = append(b.Env, mark, "PAWL_DATA="+t.TempDir())
	writeScript(t, b)
	return b, mark
}

func runArgs() []string {
	return []string{"run", "--mode", "yolo", "--model", "script:script.jsonl", "do the steps"}
}

// outcome is what a finished run leaves behind.
type outcome struct {
	Files    map[string]string
	Messages []pawl.Message
	Unknown  []pawl.CallID
	Reason   pawl.Reason
	Usage    pawl.Usage
}

// observe reads the outcome. Folding the log proves that it has no gap and that
// each call has at most one result.
func observe(t *testing.T, b *harness.Workdir) outcome {
	t.Helper()
	sessions := b.Sessions(t)
	if len(sessions) != 1 {
		t.Fatalf("%d sessions, want 1", len(sessions))
	}
	events := b.Export(t, string(sessions[0].ID))
	o := outcome{Files: map[string]string{"out.txt": b.Read(t, "out.txt")}, Messages: harness.Conversation(t, events)}
	for i := range o.Messages {
		o.Messages[i].Seq = 0
	}
	calls, results := 0, 0
	for _, e := range events {
		switch body := e.Body.(type) {
		case pawl.Replied:
			calls += len(body.Parts.Calls())
		case pawl.CallFinished:
			results++
			if body.Status == pawl.CallUnknown {
				o.Unknown = append(o.Unknown, body.Call)
			}
		case pawl.TurnFinished:
			o.Reason, o.Usage = body.Reason, body.Usage
		default: // compared as part of the conversation
		}
	}
	if calls != results {
		t.Errorf("%d calls and %d results", calls, results)
	}
	for i := 1; i < steps; i++ {
		if name := fmt.Sprintf("step%d.txt", i); b.Read(t, name) != "" {
			o.Files[name] = b.Read(t, name)
		}
	}
	return o
}

// baseline is the outcome of a run that nobody kills, and how long it took.
func baseline(t *testing.T, store string) (outcome, time.Duration) {
	t.Helper()
	b, _ := newEnv(t, store)
	began := time.Now()
	b.Must(t, runArgs()...)
	took := time.Since(began)
	o := observe(t, b)
	if o.Reason != pawl.ReasonEndTurn || len(o.Unknown) > 0 || strings.Count(o.Files["out.txt"], "\n") != steps-1 {
		t.Fatalf("the uncrashed run is not as scripted: %+v", o)
	}
	return o, took
}

// kill runs pawl and lets it be killed; killed is false if it came to its end first.
type kill func(t *testing.T, cmd *exec.Cmd) (killed bool)

// at kills by the build's own knife: at the n-th append, before or after it.
func at(when string, n int) kill {
	return func(t *testing.T, cmd *exec.Cmd) bool {
		cmd.Env = append(cmd.Env, fmt.Sprintf("PAWL_CRASH=%s:%d", when, n))
		out := harness.Wait(t, cmd)
		if out.Code > 0 {
			t.Fatalf("exit %d: %s", out.Code, out.Stderr)
		}
		return out.Code == -1
	}
}

// after kills from outside, some time after the start.
func after(d time.Duration) kill {
	return func(t *testing.T, cmd *exec.Cmd) bool {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(d) // an instant like any other
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode() == -1
	}
}

// crash kills one run of the script, resumes it and checks what is left. It
// reports whether the run was killed at all.
func crash(t *testing.T, store string, want outcome, k kill) bool {
	t.Helper()
	b, mark := newEnv(t, store)
	if !k(t, b.Command(runArgs()...)) {
		return false
	}
	survivors(t, mark)
	accepted, running := interruption(t, b)
	b.Must(t, "resume")
	survivors(t, mark)
	if !accepted {
		if text := b.Read(t, "out.txt"); text != "" {
			t.Errorf("the prompt was never accepted, and yet out.txt is %q", text)
		}
		return true
	}
	compare(t, want, observe(t, b), running)
	return true
}

// interruption looks at the log that the kill left: was the prompt accepted,
// and which calls were running that do more than read?
func interruption(t *testing.T, b *harness.Workdir) (accepted bool, running []pawl.CallID) {
	t.Helper()
	sessions := b.Sessions(t)
	if len(sessions) == 0 {
		return false, nil
	}
	open := map[pawl.CallID]bool{}
	var order []pawl.CallID
	for _, e := range b.Export(t, string(sessions[0].ID)) {
		switch body := e.Body.(type) {
		case pawl.Prompted:
			accepted = true
		case pawl.CallStarted:
			open[body.Call] = !body.ReadOnly
			order = append(order, body.Call)
		case pawl.CallFinished:
			delete(open, body.Call)
		default: // neither prompt nor call
		}
	}
	for _, id := range order {
		if open[id] {
			running = append(running, id)
		}
	}
	return accepted, running
}

// compare holds a crashed and resumed run against the uncrashed one: all is
// equal, but for the calls that were running.
func compare(t *testing.T, want, got outcome, running []pawl.CallID) {
	t.Helper()
	if diff := cmp.Diff(running, got.Unknown); diff != "" {
		t.Errorf("calls of unknown outcome (-running at the kill, +after):\n%s", diff)
	}
	if got.Reason != want.Reason || got.Usage != want.Usage {
		t.Errorf("ended with %s, %+v; want %s, %+v", got.Reason, got.Usage, want.Reason, want.Usage)
	}
	unknown := map[pawl.CallID]bool{}
	for _, id := range running {
		unknown[id] = true
	}
	if diff := cmp.Diff(forget(want.Messages, unknown), forget(got.Messages, unknown)); diff != "" {
		t.Errorf("conversation (-uncrashed, +crashed and resumed):\n%s", diff)
	}
	compareFiles(t, want, got, unknown)
}

// forget blanks the results of the given calls.
func forget(messages []pawl.Message, calls map[pawl.CallID]bool) []pawl.Message {
	var out []pawl.Message
	for _, m := range messages {
		parts := make(pawl.Parts, len(m.Parts))
		for i, p := range m.Parts {
			if r, ok := p.(pawl.ToolResult); ok && calls[r.Call] {
				p = pawl.ToolResult{Call: r.Call}
			}
			// A listing shows the files as they were, and a call of unknown outcome may have left its own or not.
			if r, ok := p.(pawl.ToolResult); ok && len(calls) > 0 && strings.Contains(r.Content, "fixed.txt\n") {
				p = pawl.ToolResult{Call: r.Call}
			}
			parts[i] = p
		}
		out = append(out, pawl.Message{Role: m.Role, Parts: parts})
	}
	return out
}

// compareFiles: no line twice, none missing but those of unknown outcome, all in order.
func compareFiles(t *testing.T, want, got outcome, unknown map[pawl.CallID]bool) {
	t.Helper()
	unsure := map[string]bool{} // what a call of unknown outcome may have left out
	for _, m := range want.Messages {
		for _, c := range m.Parts.Calls() {
			if unknown[c.ID] {
				unsure[string(c.Input)] = true
			}
		}
	}
	optional := func(text string) bool {
		for input := range unsure {
			if strings.Contains(input, text) {
				return true
			}
		}
		return false
	}
	var wantLines []string
	gotText := got.Files["out.txt"]
	for line := range strings.Lines(want.Files["out.txt"]) {
		if optional("echo "+strings.TrimSpace(line)+" >>") && !strings.Contains(gotText, line) {
			continue
		}
		wantLines = append(wantLines, line)
	}
	if diff := cmp.Diff(strings.Join(wantLines, ""), gotText); diff != "" {
		t.Errorf("out.txt (-uncrashed, +crashed and resumed):\n%s", diff)
	}
	for name, content := range want.Files {
		if name != "out.txt" && got.Files[name] != content && (got.Files[name] != "" || !optional(`"`+name+`"`)) {
			t.Errorf("%s is %q, want %q", name, got.Files[name], content)
		}
	}
}

// survivors fails the test if a process of the killed run is still there soon after.
func survivors(t *testing.T, mark string) {
	t.Helper()
	wait.Until(t, "all processes of the killed run have ended", func() bool { return len(processes(mark)) == 0 })
}

// processes lists those whose environment holds the text.
func processes(text string) []string {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, p := range paths {
		env, err := os.ReadFile(p)
		if err == nil && strings.Contains("\x00"+string(env)+"\x00", "\x00"+text+"\x00") {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(p))+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}
