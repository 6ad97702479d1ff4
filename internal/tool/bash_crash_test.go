package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/wait"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// smallPawl makes the test binary a pawl that works in the directory it names: it
// has daemons of a command that has ended, a job, and a command in the
// foreground when it prints "ready".
const smallPawl = "TOOL_TEST_PAWL"

func init() {
	dir := os.Getenv(smallPawl)
	if dir == "" {
		return
	}
	bash := Bash(NewJobs(nil, Unsandboxed{}))
	for _, in := range []fields{
		{"command": leavesMany},
		{"command": leavesMany + "wait", "background": true},
		{"command": leavesMany + "echo ready; wait"},
	} {
		data, _ := json.Marshal(in)
		c := toolapi.Call{Session: session, Input: data, Dir: dir, Progress: func(text string) { fmt.Print(text) }}
		if _, err := bash.Run(context.Background(), c); err != nil {
			fmt.Println(err)
		}
	}
	os.Exit(1)
}

func TestNothingOutlivesAKilledPawl(t *testing.T) { //nolint:paralleltest // it sets environment variables
	mine := markProcesses(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), smallPawl+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if line, err := bufio.NewReader(io.LimitReader(out, 1000)).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		t.Fatalf("%q, %v", line, err)
	}
	started := func() []int {
		return slices.DeleteFunc(mine(), func(pid int) bool { return pid == cmd.Process.Pid })
	}
	wait.Until(t, "4 daemons, a job of 5, a command of 5", func() bool { return len(started()) >= 14 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "all that it started is gone", func() bool { return len(started()) == 0 })
}
