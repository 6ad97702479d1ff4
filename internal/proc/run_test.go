package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// text collects output and signals when it grows.
type text struct {
	mu   sync.Mutex
	all  strings.Builder
	news chan struct{}
}

func newText() *text { return &text{news: make(chan struct{}, 1)} }

func (w *text) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	select {
	case w.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// lines waits for n lines.
func (w *text) lines(t *testing.T, n int) []string {
	t.Helper()
	over := time.After(time.Minute)
	for {
		if s := w.String(); strings.Count(s, "\n") >= n {
			return strings.Split(strings.TrimSpace(s), "\n")
		}
		select {
		case <-w.news:
		case <-over:
			t.Fatalf("no %d lines came, only %q", n, w)
		}
	}
}

func bash(script string, out *text) Command {
	return Command{Args: []string{"bash", "-c", script}, Output: out}
}

func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, script string
		want         Exit
		output       string
	}{
		{"success", "echo out", Exit{}, "out\n"},
		{"both outputs, in order", "echo one; echo two >&2; echo three", Exit{}, "one\ntwo\nthree\n"},
		{"exit code", "echo no; exit 3", Exit{Code: 3}, "no\n"},
		{"killed", "kill -9 $$", Exit{Code: -1, Signal: "killed"}, ""},
		{"terminated", "kill -TERM $$", Exit{Code: -1, Signal: "terminated"}, ""},
		{"standard input is at its end", "cat; echo ended", Exit{}, "ended\n"},
		{"folder", "pwd -P", Exit{}, dir + "\n"},
		{"no terminal", "tty; exit 0", Exit{}, "not a tty\n"},
		{"it carries its own mark, once", "env | grep ^" + jobVar + "= | grep -vc outer", Exit{}, "1\n"},
		{"it carries the mark, once", "env | grep ^" + markVar + "=", Exit{}, markVar + "=" + Self().Mark + "\n"},
	}
	t.Setenv(markVar, "of a pawl that runs this one")
	t.Setenv(jobVar, "outer")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := newText()
			c := bash(test.script, out)
			c.Dir = dir
			exit, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if exit.Duration <= 0 {
				t.Errorf("it took %s", exit.Duration)
			}
			if diff := cmp.Diff(test.want, exit, cmpopts.IgnoreFields(Exit{}, "Duration")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.output, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRunCannotStart(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	tests := []struct {
		name string
		cmd  Command
		says string
	}{
		{"no such program", Command{Args: []string{"pawl-no-such-program"}, Output: newText()}, "pawl-no-such-program"},
		{"no such folder", Command{Args: []string{"bash", "-c", "true"}, Dir: missing, Output: newText()}, missing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Run(t.Context(), test.cmd)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error %q does not name %s", err, test.says)
			}
		})
	}
}

func TestRunAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	file := filepath.Join(t.TempDir(), "file")
	if _, err := Run(ctx, bash("touch "+file, newText())); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran although its context had ended")
	}
}

// Each script prints the ids of its processes.
func TestCancelEndsTheGroup(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		count        int
		signal       string
	}{
		{"plain", "echo $$; sleep 1000 & echo $!; wait", 2, "terminated"},
		{"ignores SIGTERM", "trap '' TERM; echo $$; sleep 1000 & echo $!; wait", 2, "killed"},
		{"its child ignores SIGTERM", "echo $$; (trap '' TERM; echo $BASHPID; exec sleep 1000) & wait", 2, "terminated"},
		{"pipeline", "echo $$; (echo $BASHPID >&2; exec sleep 1000) | (echo $BASHPID >&2; exec sleep 1000)", 3, "terminated"},
		{"stopped", "(until grep -q 'State:.T' /proc/$$/status; do :; done; echo $BASHPID; exec sleep 1000) & echo $$; kill -STOP $$", 2, "killed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("why")
			out := newText()
			var exit Exit
			var err error
			var ended time.Time
			var wg sync.WaitGroup
			wg.Go(func() {
				exit, err = Run(ctx, bash(test.script, out))
				ended = time.Now()
			})
			var pids []int
			for _, line := range out.lines(t, test.count) {
				pid, err := strconv.Atoi(line)
				if err != nil {
					t.Error(err)
				}
				pids = append(pids, pid)
			}
			canceled := time.Now()
			cancel(why)
			wg.Wait()

			if took := ended.Sub(canceled); took > 30*time.Second {
				t.Errorf("it took %s to return", took)
			}
			if !errors.Is(err, why) {
				t.Errorf("got %v, want the cause", err)
			}
			if diff := cmp.Diff(Exit{Code: -1, Signal: test.signal}, exit, cmpopts.IgnoreFields(Exit{}, "Duration")); diff != "" {
				t.Error(diff)
			}
			wait.Until(t, "the group has ended", func() bool { return len(alive(pids)) == 0 })
		})
	}
}

// All processes of the group get SIGTERM before SIGKILL.
func TestCancelAsksFirst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := newText()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = Run(ctx, bash("(trap 'echo bye; exit' TERM; sleep 1000 & echo ready; wait) & wait", out))
	})
	out.lines(t, 1)
	cancel()
	wg.Wait()
	if diff := cmp.Diff("ready\nbye\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTheOutputIsNotWaitedFor(t *testing.T) { //nolint:paralleltest // it kills what other tests run
	for _, script := range []string{
		"sleep 1000 & echo $!",
		"setsid sleep 1000 & echo $!",
		`f=$(mktemp -u) && mkfifo $f && (setsid bash -c "echo \$\$; echo >$f; exec sleep 1000" &); read <$f; rm $f`, // a daemon
	} {
		out := newText()
		began := time.Now()
		if _, err := Run(t.Context(), bash(script, out)); err != nil {
			t.Errorf("%s: %v", script, err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: it took %s", script, took)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		if err != nil || len(alive([]int{pid})) != 1 {
			t.Errorf("%s: the background process is not there to hold the output: %q", script, out)
		}
	}
	Reap(Self().Mark)
}

func TestNothingLeaks(t *testing.T) { //nolint:paralleltest // it counts goroutines
	if _, err := Run(t.Context(), bash("true", newText())); err != nil { // starts the keeper
		t.Fatal(err)
	}
	before, current := openFiles(t), goleak.IgnoreCurrent()
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		out := newText()
		var wg sync.WaitGroup
		switch i % 10 {
		case 0: // a process that holds the output
			_, _ = Run(ctx, bash("sleep 1000 & echo", out))
		case 1: // one that is canceled
			wg.Go(func() { _, _ = Run(ctx, bash("echo; exec sleep 1000", out)) })
			out.lines(t, 1)
		case 2: // one that cannot start
			_, _ = Run(ctx, Command{Args: []string{"pawl-no-such-program"}, Output: out})
		default:
			_, _ = Run(ctx, bash("echo", out))
		}
		cancel()
		wg.Wait()
	}
	Reap(Self().Mark)
	goleak.VerifyNone(t, current)
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
