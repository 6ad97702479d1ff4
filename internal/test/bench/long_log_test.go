//go:build bench && linux

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// longLog is what is known of a long session, from its events as they came.
type longLog struct {
	began     []time.Time // began[i] is when step i+1 did
	tools     []string    // tools[i] is what step i+1 called
	compacted map[int]bool
	used      map[int]usage // at the beginning of each longPart-th step
	bytes     int64         // of the events
	unsafe    int           // calls without a snapshot that may change something
	failed    []string
	reason    pawl.Reason
}

// usage is what a process has used so far.
type usage struct {
	cpu  time.Duration // of its children too, once they have ended
	peak int64         // memory, bytes
}

// followLong runs pawl and reads its events.
func followLong(t *testing.T, cmd *exec.Cmd) *longLog {
	t.Helper()
	l := &longLog{compacted: map[int]bool{}, used: map[int]usage{}}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e pawl.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Seq > 0 {
			l.bytes += int64(len(lines.Bytes()))
		}
		l.apply(t, e, cmd.Process.Pid)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return l
}

func (l *longLog) apply(t *testing.T, e pawl.Event, pid int) {
	t.Helper()
	switch b := e.Body.(type) {
	case pawl.ReplyStarted:
		l.began = append(l.began, e.At)
		if b.Step%longPart == 0 {
			l.used[b.Step] = usageOf(t, pid)
		}
	case pawl.Replied:
		for _, c := range b.Parts.Calls() {
			l.tools = append(l.tools, c.Name)
		}
	case pawl.Compacted:
		l.compacted[len(l.began)] = true // it makes the step before it longer
		if b.Keep == 0 || b.Message != "" {
			l.failed = append(l.failed, "compaction: "+b.Message)
		}
	case pawl.CallStarted:
		if !b.ReadOnly && b.Snapshot == "" {
			l.unsafe++
		}
	case pawl.CallFinished:
		if b.Result.IsError || b.Status != pawl.CallDone {
			l.failed = append(l.failed, fmt.Sprintf("%s %s: %.200s", b.Call, b.Status, b.Result.Content))
		}
	case pawl.TurnFinished:
		l.reason = b.Reason
	default: // not counted
	}
}

// check holds the session against its script.
func (l *longLog) check(t *testing.T) {
	t.Helper()
	if len(l.began) != longSteps || len(l.tools) != longSteps-1 || l.reason != pawl.ReasonEndTurn {
		t.Fatalf("%d steps with %d calls that ended with %s, want %d, %d and %s",
			len(l.began), len(l.tools), l.reason, longSteps, longSteps-1, pawl.ReasonEndTurn)
	}
	if len(l.failed) > 0 || l.unsafe > 0 {
		t.Fatalf("%d calls or compactions failed, %d calls have no snapshot: %.3q", len(l.failed), l.unsafe, l.failed)
	}
	if least := longSteps / 100; len(l.compacted) < least {
		t.Fatalf("%d compactions, want %d at least", len(l.compacted), least)
	}
}

// wall is how long a step takes from one to before another, without those that
// were compacted after: the mean over the tools of their quartiles, each as often
// as it was called.
func (l *longLog) wall(from, to int) time.Duration {
	took := map[string][]time.Duration{}
	for step := from; step < to; step++ {
		if !l.compacted[step] {
			tool := l.tools[step-1]
			took[tool] = append(took[tool], l.took(step))
		}
	}
	var sum time.Duration
	steps := 0
	for _, list := range took {
		sum += quartile(list) * time.Duration(len(list))
		steps += len(list)
	}
	return sum / time.Duration(steps)
}

// compaction is the median of what the steps take that were compacted after.
func (l *longLog) compaction() time.Duration {
	var took []time.Duration
	for step := range l.compacted {
		took = append(took, l.took(step))
	}
	return middle(took)
}

func (l *longLog) took(step int) time.Duration { return l.began[step].Sub(l.began[step-1]) }

// cpu is what a step takes of the processor, from one to before another.
func (l *longLog) cpu(from, to int) time.Duration {
	return (l.used[to].cpu - l.used[from].cpu) / time.Duration(to-from)
}

// usageOf asks the kernel, which counts the time in hundredths of a second.
func usageOf(t *testing.T, pid int) (u usage) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold anything
	for _, field := range strings.Fields(rest)[11:15] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		u.cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(peak, "%d kB", &u.peak); err != nil {
		t.Fatalf("the process's memory at its peak: %v", err)
	}
	u.peak <<= 10
	return u
}
