package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// alive reports whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A program goes with all that it has started, be it a daemon.
func TestEndsChildren(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	w := newEnv(t, quick, Stdio, "good")
	w.server.Command, w.server.Args = "sh", []string{"-c", `setsid sleep 1000 & echo $! > "$0"; exec "$1" "$2"`, file, self, serveArg + "good"}
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		t.Fatal(err)
	}
	s := w.ready()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Sscan(string(text), &child); err != nil || !alive(child) || !alive(s.PID) {
		t.Fatalf("child %d, server %d, %v", child, s.PID, err)
	}
	w.Close()
	if alive(child) || alive(s.PID) {
		t.Error("something of it still runs")
	}
}

// When pawl is killed, its servers go too.
func TestKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), smallPawlVar+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var server int
	if _, err := fmt.Fscan(out, &server); err != nil || !alive(server) {
		t.Fatalf("server %d, %v", server, err)
	}
	fd, err := unix.PidfdOpen(server, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for { // until the server has ended, or the test binary's own time
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if alive(server) {
		t.Error("the server still runs")
	}
}

// A program runs in its sandbox, in its directory, or not at all.
func TestSandbox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var got []string
	wrap := func(_ context.Context, ws, root string, args, env []string) (sandbox.Wrapped, error) {
		got = append([]string{ws, root}, append(args, env...)...)
		return sandbox.Unwrapped(args, append(os.Environ(), env...)), nil
	}
	set := New(Config{times: quick, Sandbox: wrap})
	defer set.Close()
	entry := fakeEntry(t, Stdio, "good")
	entry.Cwd, entry.Env["A"] = "sub", "b"
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := set.Test(t.Context(), dir, entry); err != nil || s.State != Ready {
		t.Fatalf("%+v, %v", s, err)
	}
	if want := fmt.Sprint([]string{dir, filepath.Join(dir, "sub"), entry.Command, entry.Args[0], "A=b", "GORACE=atexit_sleep_ms=0"}); fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
	set.config.Sandbox = func(context.Context, string, string, []string, []string) (sandbox.Wrapped, error) {
		return sandbox.Wrapped{}, errors.New("there is no sandbox")
	}
	if s, err := set.Test(t.Context(), dir, entry); err != nil || s.State != Failed || s.Why != "there is no sandbox" {
		t.Errorf("%+v, %v", s, err)
	}
	entry.Unsandboxed = true // the user's own word
	if s, err := set.Test(t.Context(), dir, entry); err != nil || s.State != Ready {
		t.Errorf("%+v, %v", s, err)
	}
}

// Start keeps what has not changed, and ends what no longer exists.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	w := newEnv(t, quick, Stdio, "good")
	first := w.ready()
	other := w.server
	other.Name = "other"
	off := w.server
	off.Name, off.Disabled = "off", true
	if err := w.Start(w.dir, []Server{other, w.server, off}); err != nil {
		t.Fatal(err)
	}
	if s := w.ready(); s.PID != first.PID {
		t.Error("a server that has not changed was started anew")
	}
	w.server.Name = "other"
	second := w.ready()
	if err := w.Start(w.dir, []Server{other}); err != nil {
		t.Fatal(err)
	}
	w.ending.Wait()
	if alive(first.PID) || !alive(second.PID) {
		t.Error("the wrong one was ended")
	}
	if got := names(w.within(w.dir, orAll(nil), 1<<30)); fmt.Sprint(got) != "[mcp__other__echo]" {
		t.Errorf("got %v", got)
	}
	for _, wrong := range [][]Server{{other, other}, {{Name: "x"}}, make([]Server, maxServers+1)} {
		if w.Start(w.dir, wrong) == nil {
			t.Errorf("%v was started", wrong)
		}
	}
}
