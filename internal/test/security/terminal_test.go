//go:build sectest

package security

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// terminal is a terminal with pawl at it, and the person who sits there.
type terminal struct {
	a    *attackEnv
	main *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when all was read

	mu   sync.Mutex
	seen []byte
	news chan struct{} // closed, and made anew, when there is more to see
}

// atTerminal starts pawl at a terminal.
func (a *attackEnv) atTerminal(args ...string) *terminal {
	a.Helper()
	main, end := a.openTerminal()
	return a.startAt(a.command(args...), main, end)
}

// onScreen starts pawl at a terminal that has a size and no colors: its screen.
func (a *attackEnv) onScreen(args ...string) *terminal {
	a.Helper()
	main, end := a.openTerminal()
	size := [4]uint16{24, 80}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, main.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		a.Fatal(errno)
	}
	cmd := a.command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "NO_COLOR=1")
	return a.startAt(cmd, main, end)
}

// startAt starts a command at the ends of a terminal.
func (a *attackEnv) startAt(cmd *exec.Cmd, main, end *os.File) *terminal {
	a.Helper()
	t := &terminal{a: a, cmd: cmd, main: main, done: make(chan struct{}), news: make(chan struct{})}
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = end, end, end
	if err := t.cmd.Start(); err != nil {
		a.Fatal(err)
	}
	_ = end.Close() // pawl has it
	a.Cleanup(func() { _ = t.main.Close() })
	go t.read()
	return t
}

// openTerminal returns both ends of a new one.
func (a *attackEnv) openTerminal() (main, end *os.File) {
	a.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		a.Fatal(err)
	}
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, main.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			a.Fatal(errno)
		}
	}
	end, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		a.Fatal(err)
	}
	return main, end
}

// read takes in what is shown, until nobody has the terminal any more.
func (t *terminal) read() {
	defer close(t.done)
	piece := make([]byte, 32<<10)
	for {
		n, err := t.main.Read(piece)
		t.mu.Lock()
		t.seen = append(t.seen, piece[:n]...)
		close(t.news)
		t.news = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until a text has been shown n times, and reports whether it was
// before pawl ended.
func (t *terminal) await(text string, n int) bool {
	t.a.Helper()
	late := time.After(time.Minute)
	for {
		t.mu.Lock()
		seen, news := bytes.Count(t.seen, []byte(text)), t.news
		t.mu.Unlock()
		if seen >= n {
			return true
		}
		select {
		case <-news:
		case <-t.done:
			return false
		case <-late:
			t.a.Fatalf("there is no %q: %q", text, t.text())
		}
	}
}

// text is what has been shown, with line ends as pawl wrote them.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(string(t.seen), "\r\n", "\n")
}

// keys types.
func (t *terminal) keys(keys string) {
	t.a.Helper()
	if _, err := t.main.WriteString(keys); err != nil {
		t.a.Fatal(err)
	}
}

// end waits until pawl has ended, and returns all that was shown.
func (t *terminal) end() string {
	t.a.Helper()
	_ = t.cmd.Wait() // its exit code is no matter of the terminal
	<-t.done
	return t.text()
}
