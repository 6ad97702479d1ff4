package proc

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

func mustStart(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// A process can serve requests on its standard input and output.
func TestStartWithPipes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"a file", "a reader"} {
		t.Run(kind, func(t *testing.T) {
			var stdin io.Reader
			var send io.WriteCloser
			if kind == "a file" {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				stdin, send = r, w
			} else {
				stdin, send = io.Pipe()
			}
			fromServer, stdout := io.Pipe()
			errs := newText()
			p := mustStart(t, Command{
				Args:  []string{"bash", "-c", "echo ready >&2; while read -r line; do echo got $line; done; exit 7"},
				Stdin: stdin, Output: stdout, Stderr: errs,
			})
			answers := bufio.NewReader(fromServer)
			for _, word := range []string{"one", "two"} {
				if _, err := io.WriteString(send, word+"\n"); err != nil {
					t.Fatal(err)
				}
				answer, err := answers.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff("got "+word+"\n", answer); diff != "" {
					t.Error(diff)
				}
			}
			if err := send.Close(); err != nil {
				t.Fatal(err)
			}
			exit, err := p.Wait()
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(Exit{Code: 7}, exit, cmpopts.IgnoreFields(Exit{}, "Duration")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff("ready\n", errs.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A blocking reader or writer does not delay the end of a command.
func TestKillWithBlockedPipes(t *testing.T) {
	t.Parallel()
	stdin, send := io.Pipe()
	fromServer, stdout := io.Pipe()
	defer send.Close()
	defer fromServer.Close()
	p := mustStart(t, Command{Args: []string{"bash", "-c", "trap '' TERM; yes"}, Stdin: stdin, Output: stdout})
	if _, err := fromServer.Read(make([]byte, 1)); err != nil { // and no more
		t.Fatal(err)
	}
	began := time.Now()
	p.Kill()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if exit, err := p.Wait(); exit.Signal != "killed" || err == nil || !strings.Contains(err.Error(), "not consumed") {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestAnOutputThatFails(t *testing.T) {
	t.Parallel()
	fromServer, stdout := io.Pipe()
	broken := errors.New("broken")
	_ = fromServer.CloseWithError(broken)
	p := mustStart(t, Command{Args: []string{"yes"}, Output: stdout})
	exit, err := p.Wait()
	if !errors.Is(err, broken) || exit.Signal != "broken pipe" {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Processes that a command leaves behind continue when it ends, and can still print.
func TestADaemonIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), newText()
	c := bash("(setsid bash -c 'until [ -e go ]; do sleep 0.01; done; yes | head -c 1000000 && touch printed; exec sleep 1000' &); echo begun", out)
	c.Dir = dir
	p := mustStart(t, c)
	if exit, err := p.Wait(); exit.Code != 0 || err != nil {
		t.Fatalf("%+v, %v", exit, err)
	}
	left := marked(jobVar + "=" + p.job)
	if len(left) == 0 {
		t.Fatal("the daemon has ended with its command")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the daemon can print", func() bool {
		_, err := os.Stat(filepath.Join(dir, "printed"))
		return err == nil
	})
	if diff := cmp.Diff("begun\n", out.String()); diff != "" {
		t.Errorf("the output grew after the end: %s", diff)
	}
	p.Kill()
	if left := marked(jobVar + "=" + p.job); len(left) > 0 {
		t.Errorf("Kill left %v", left)
	}
}

// Output right after the command's end still belongs to it.
func TestLateOutput(t *testing.T) {
	t.Parallel()
	out := newText()
	if _, err := Run(t.Context(), bash("(until ! [ -e /proc/$$/exe ]; do :; done; echo late) & echo early", out)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("early\nlate\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

const mixed = leavesBehind + `; (setsid bash -c "trap '' TERM; echo deaf; while :; do sleep 1000; done" &); echo begun; wait`

func TestKillEndsAllOfACommand(t *testing.T) {
	t.Parallel()
	out, others := newText(), newText()
	p, other := mustStart(t, bash(mixed, out)), mustStart(t, bash(mixed, others))
	out.lines(t, 2)
	others.lines(t, 2)
	spared := marked(jobVar + "=" + other.job)
	began := time.Now()
	var wg sync.WaitGroup
	for range 3 { // each call returns when all processes have ended
		wg.Go(func() {
			p.Kill()
			if left := marked(jobVar + "=" + p.job); len(left) > 0 {
				t.Errorf("Kill left %v", left)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if exit, err := p.Wait(); exit.Signal != "terminated" || err != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	if diff := cmp.Diff(spared, alive(spared)); diff != "" || len(spared) < 5 {
		t.Errorf("the other command lost processes: %s", diff)
	}
}

// Processes that have left the group get SIGTERM before SIGKILL, too.
func TestKillAsksDaemons(t *testing.T) {
	t.Parallel()
	out := newText()
	p := mustStart(t, bash("(setsid bash -c 'trap \"echo bye; exit\" TERM; sleep 1000 & echo ready; wait' &); exec sleep 1000", out))
	out.lines(t, 1)
	p.Kill()
	if diff := cmp.Diff("ready\nbye\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestKillAll(t *testing.T) {
	t.Parallel()
	start := func(scope, script string) *Process {
		out := newText()
		c := bash(script, out)
		c.Scope = scope
		p := mustStart(t, c)
		out.lines(t, 1)
		return p
	}
	const scope = "ONE-OF-TestKillAll"
	running := []*Process{start(scope, mixed), start(scope, "echo; exec sleep 1000"), start(scope, "echo; exec env -i sleep 1000")}
	ended := start(scope, leavesBehind+"; echo")
	if _, err := ended.Wait(); err != nil {
		t.Fatal(err)
	}
	spared := []*Process{start(scope+"-NOT", "echo; exec sleep 1000"), start("", "echo; exec sleep 1000")}
	began := time.Now()
	KillAll([]string{"", scope + "-UNUSED"}) // no process has this scope
	KillAll([]string{scope}, append(running, ended)...)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	for _, p := range running {
		select {
		case <-p.Done():
		default:
			t.Errorf("KillAll returned while %s ran", p.cmd.Args[2])
		}
	}
	if left := marked(scopeVar + "=" + scope); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	for _, p := range spared {
		select {
		case <-p.Done():
			t.Errorf("%q was killed", p.cmd.Env[len(p.cmd.Env)-1])
		default:
		}
	}
}

// A process that nobody waits for does not stay a zombie.
func TestAnEndedProcessIsReaped(t *testing.T) {
	t.Parallel()
	p := mustStart(t, bash("exit 0", newText()))
	wait.Until(t, "the process is gone", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(p.cmd.Process.Pid))
		return os.IsNotExist(err)
	})
}
