package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Columns is the width of the test terminal.
const Columns = 80

// Terminal runs pawl in a pseudo-terminal and simulates a user who reads and types.
type Terminal struct {
	t    testing.TB
	cmd  *exec.Cmd
	keys *os.File // the user's side

	mu     sync.Mutex
	screen bytes.Buffer
	read   int // the part of it that Await has returned
	ended  chan struct{}
}

// Terminal starts pawl in a new pseudo-terminal. It is killed when the test ends.
func (b *Workdir) Terminal(t testing.TB, args ...string) *Terminal {
	t.Helper()
	keys, tty := OpenTerminal(t)
	x := &Terminal{t: t, cmd: b.Command(args...), keys: keys, ended: make(chan struct{})}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
	go x.watch()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.cmd.Wait()
		_ = keys.Close()
		<-x.ended
	})
	return x
}

// OpenTerminal returns the two sides of a pseudo-terminal: the user's and the
// program's.
func OpenTerminal(t testing.TB) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: Columns}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return keys, tty
}

// watch collects the output until it ends.
func (x *Terminal) watch() {
	defer close(x.ended)
	buffer := make([]byte, 4096)
	for {
		n, err := x.keys.Read(buffer)
		x.mu.Lock()
		x.screen.Write(buffer[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type types, with \n for Enter.
func (x *Terminal) Type(text string) {
	x.t.Helper()
	if _, err := x.keys.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
}

// Screen returns all output so far.
func (x *Terminal) Screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.screen.String(), "\r\n", "\n")
}

// Await waits for a new occurrence of the text and returns the output up to its end
// that was not returned before.
func (x *Terminal) Await(text string) string {
	x.t.Helper()
	for deadline, over := time.Now().Add(time.Minute), false; !over && time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) { // nothing tells when a screen changes
		select {
		case <-x.ended: // the output has ended
			over = true
		default:
		}
		screen := x.Screen()
		if i := strings.Index(screen[x.read:], text); i >= 0 {
			from := x.read
			x.read += i + len(text)
			return screen[from:x.read]
		}
	}
	x.t.Fatalf("%q did not come up; this did:\n%s", text, x.Screen()[x.read:])
	return ""
}

// Kill kills pawl with SIGKILL.
func (x *Terminal) Kill() {
	x.t.Helper()
	if err := x.cmd.Process.Kill(); err != nil {
		x.t.Fatal(err)
	}
	_ = x.cmd.Wait()
}

// Wait waits for pawl to exit and returns its exit code.
func (x *Terminal) Wait() int {
	x.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = x.cmd.Process.Kill() })
	defer timer.Stop()
	_ = x.cmd.Wait()
	return x.cmd.ProcessState.ExitCode()
}
