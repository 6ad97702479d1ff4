package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// pawlVar makes the test binary act as a small pawl: it runs the command line in the
// variable, waits for the end of its standard input, and exits.
const pawlVar = "PROC_TEST_PAWL"

func TestMain(m *testing.M) {
	if script := os.Getenv(pawlVar); script != "" {
		fmt.Println(Self().Mark)
		if _, err := Run(context.Background(), Command{Args: []string{"bash", "-c", script}, Output: os.Stderr}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pawl is a running instance of this small pawl.
type pawl struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	mark  string
	pids  []int // the processes that it has started
}

// startPawl returns once n processes with its mark are running: sleeps, and a shell if
// the script waits for them.
func startPawl(t *testing.T, script string, n int) *pawl {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &pawl{t: t, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), pawlVar+"="+script)
	p.cmd.Stderr = os.Stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		Reap(p.mark)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("read the mark: %v", err)
	}
	p.mark = strings.TrimSpace(line)
	shells := 0
	if strings.Contains(script, "wait") {
		shells = 1
	}
	wait.Until(t, fmt.Sprintf("%d processes carry the mark", n), func() bool {
		p.pids = marked(markVar + "=" + p.mark)
		passing := slices.DeleteFunc(slices.Clone(p.pids), func(pid int) bool {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return string(name) == "sleep\n"
		})
		return len(p.pids) == n && len(passing) == shells
	})
	return p
}

func (p *pawl) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// alive returns those of the processes that have not ended.
func alive(pids []int) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		_, ok := startTime(pid)
		return !ok
	})
}
