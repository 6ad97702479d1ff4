package lsp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// slack is what a loaded machine may add to a limit.
const slack = 30 * time.Second

// Whatever a server does, a Check is over when its time is, a second one too,
// and Close leaves nothing.
func TestHostileServers(t *testing.T) {
	const limit = 300 * time.Millisecond
	tests := []struct{ way, says string }{
		{"never", "fake-lsp is still starting"},
		{"mute", "fake-lsp is still loading"},
		{"deaf", "fake-lsp is still loading"},
		{"garbage", "fake-lsp does not run: it sent \"Hello! I am a language server.\" where a header should be"},
		{"garbage-later", "fake-lsp does not run: it sent \"{}{}{}\" where a header should be"},
		{"not-json", "fake-lsp does not run: it sent invalid JSON-RPC"},
		{"header", "fake-lsp does not run: it announced a message of \" 1073741824\" bytes"},
		{"endless", "fake-lsp does not run: it sent a header without an end"},
		{"dies", "fake-lsp does not run: it ended (exit code 3): fatal: no such toolchain"},
		{"dies-later", "fake-lsp does not run: it ended (exit code 4)"},
		{"asks-much", "fake-lsp does not run: it does not read the replies to its requests"},
		{"flood", ""},
	}
	check(t, fakes(t, "good"), t.TempDir(), "x.txt") // starts the keeper
	current := goleak.IgnoreCurrent()
	t.Run("way", func(t *testing.T) {
		for _, test := range tests {
			t.Run(test.way, func(t *testing.T) {
				t.Parallel()
				m := fakes(t, test.way)
				dir := folder(t, map[string]string{"a.txt": "BAD\n"})
				for range 2 {
					began := time.Now()
					r := checkFor(t, m, limit, dir, "a.txt")
					if took := time.Since(began); took > limit+slack {
						t.Errorf("it took %s", took)
					}
					if n := len(r.Files); n > keptFiles+1 {
						t.Errorf("%d files are kept", n)
					}
				}
				wait.Until(t, "it says what is wrong", func() bool {
					notes := lines(Report{Notes: checkFor(t, m, limit, dir, "a.txt").Notes})
					return test.says == "" || len(notes) == 1 && strings.HasPrefix(notes[0], "note: "+test.says)
				})
				began := time.Now()
				m.Close()
				if took := time.Since(began); took > time.Minute { // the flood is still being read, with the race detector
					t.Errorf("it took %s to close", took)
				}
			})
		}
	})
	goleak.VerifyNone(t, current)
}

// A flood is cut: what is kept is bounded, what matters most is shown, and all is counted.
func TestFlood(t *testing.T) { //nolint:paralleltest // it measures memory
	m := fakes(t, "flood")
	dir := folder(t, map[string]string{"a.txt": ""})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := check(t, m, dir, "a.txt")
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes are kept of it", grown)
	}
	if len(r.Files) == 0 || !r.Files[0].Asked || len(r.Files) != keptFiles+1 {
		t.Fatalf("%d files", len(r.Files))
	}
	got := r.Files[0]
	if got.Errors != 50_000 || got.Warnings != 50_000 || len(got.Faults) != keptFaults {
		t.Errorf("%d errors, %d warnings, %d kept", got.Errors, got.Warnings, len(got.Faults))
	}
	for i, f := range got.Faults {
		want := Fault{Line: 1, Column: 1, Error: true, Message: "the worst", New: true}
		if i > 0 {
			want.Message = "very bad"
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("fault %d: %s", i, diff)
		}
	}
}

// The last one standing is killed, with what it has started in another session.
func TestStubbornServer(t *testing.T) {
	t.Parallel()
	m := fakes(t, "stubborn")
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD")
	if left := running(m); len(left) != 2 {
		t.Fatalf("these run: %v", left)
	}
	m.Close()
	if left := running(m); len(left) > 0 {
		t.Errorf("these still run: %v", left)
	}
}

// A server that crashes is started again, so many times; then it rests.
func TestCrashes(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	m.times = times{start: startTime, rest: time.Hour, idle: idleTime, hang: hangTime}
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	for i := range maxRestarts + 1 {
		put(t, dir, "a.txt", fmt.Sprintf("BAD %d\n", i))
		checkLines(t, check(t, m, dir, "a.txt"), fmt.Sprintf("+a.txt:1: error: BAD %d", i))
		for _, e := range m.entries {
			for pid := range running(m) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			<-e.server.ended
		}
	}
	checkLines(t, check(t, m, dir, "a.txt"), "note: fake-lsp does not run: it ended (killed)")
	if n := len(running(m)); n > 0 {
		t.Errorf("%d servers run", n)
	}
	for _, e := range m.entries {
		e.retry = time.Time{} // an hour later
	}
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD 3")
}

// One that dies in the middle of a Check is started again for it.
func TestCrashDuringCheck(t *testing.T) {
	t.Parallel()
	m := fakes(t, "dies-once")
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD")
}

// One that cannot be started is left alone for a while.
func TestFailedStartIsRemembered(t *testing.T) {
	t.Parallel()
	m := fakes(t, "dies")
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	check(t, m, dir, "a.txt")
	if r := check(t, m, dir, "a.txt"); len(r.Notes) != 1 || r.Notes[0].Kind != Failed {
		t.Errorf("it was tried again at once: %+v", r)
	}
	for _, e := range m.entries {
		e.retry, e.spec = time.Time{}, fakeSpec("good") // a while later, and repaired
	}
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD")
}

func TestHungServer(t *testing.T) {
	t.Parallel()
	m := fakes(t, "mute")
	m.times = times{start: startTime, rest: restTime, idle: idleTime, hang: time.Nanosecond}
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	up(t, m, dir)
	checkLines(t, checkFor(t, m, 300*time.Millisecond, dir, "a.txt"), "note: fake-lsp is still loading")
	before := running(m)
	if r := checkFor(t, m, time.Second, dir, "a.txt"); len(r.Notes) != 1 || r.Notes[0].Kind != Waiting {
		t.Errorf("got %+v", r)
	}
	up(t, m, dir)
	if after := running(m); cmp.Equal(before, after) || len(after) != 1 {
		t.Errorf("%v runs, %v did before", after, before)
	}
}

func TestIdleServerEnds(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	m.times = times{start: startTime, rest: restTime, idle: 10 * time.Millisecond, hang: hangTime}
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	check(t, m, dir, "a.txt")
	wait.Until(t, "it has ended", func() bool { return len(running(m)) == 0 })
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD")
}

// There are never more than so many, and those at work are left alone.
func TestMaxServers(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	files := map[string]string{}
	for i := range maxServers + 2 {
		files[fmt.Sprintf("%d/root", i)], files[fmt.Sprintf("%d/a.txt", i)] = "", "BAD\n"
	}
	dir := folder(t, files)
	for i := range maxServers + 2 {
		check(t, m, dir, fmt.Sprintf("%d/a.txt", i))
	}
	wait.Until(t, "the oldest have ended", func() bool { return len(running(m)) == maxServers })
	for k, e := range m.entries {
		if oldest := strings.HasSuffix(k.root, "/0") || strings.HasSuffix(k.root, "/1"); oldest == (e.server != nil) {
			t.Errorf("%s: runs %v", k.root, e.server != nil)
		}
		e.users++
	}
	checkLines(t, check(t, m, dir, "0/a.txt"), "note: fake-lsp does not run: 8 language servers are at work: there can be no more")
}

func TestClose(t *testing.T) {
	t.Parallel()
	m := fakes(t, "never") // Close does not wait for a start
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	checkFor(t, m, 100*time.Millisecond, dir, "a.txt")
	began := time.Now()
	m.Close()
	m.Close()
	if took := time.Since(began); took > endGrace+slack {
		t.Errorf("it took %s", took)
	}
	r, err := m.Check(context.Background(), dir, []string{"a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, r, "note: fake-lsp does not run: the language servers are closed")
	new(Servers).Close()
}
