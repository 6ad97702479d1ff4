//go:build bench && linux

package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// console runs pawl in a bare pseudo-terminal, without tmux between the program's
// write and the clock.
type console struct {
	t     testing.TB
	cmd   *exec.Cmd
	keys  *os.File
	began time.Time // start time

	mu    sync.Mutex
	tail  []byte // output since the last check
	last  time.Time
	total int
	want  []byte
	seen  chan time.Time // when want came
}

// console starts pawl.
func (w *Env) console(args ...string) *console {
	w.t.Helper()
	return open(w.t, w.commands().Command(args...))
}

// open starts a program in a pseudo-terminal. It is killed when the test ends.
func open(t testing.TB, cmd *exec.Cmd) *console {
	t.Helper()
	keys, tty := harness.OpenTerminal(t)
	c := &console{t: t, keys: keys, cmd: cmd, seen: make(chan time.Time, 1)}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.began = time.Now()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.read()
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = keys.Close()
		<-ended
	})
	return c
}

func (c *console) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.keys.Read(buffer)
		now := time.Now()
		c.mu.Lock()
		c.last, c.total = now, c.total+n
		c.tail = append(c.tail, buffer[:n]...)
		if c.want != nil && bytes.Contains(c.tail, c.want) {
			c.want = nil
			c.seen <- now
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect discards the output so far and waits for a text from now on.
func (c *console) expect(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tail, c.want = nil, []byte(text)
}

// came waits for the expected text and returns when it was written.
func (c *console) came() time.Time {
	c.t.Helper()
	select {
	case at := <-c.seen:
		return at
	case <-time.After(*maxWait):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.t.Fatalf("%q was not written; this was: %q", c.want, c.tail[max(0, len(c.tail)-2000):])
		return time.Time{}
	}
}

// press sends keys and returns how long it took until the text was written.
func (c *console) press(keys, text string) time.Duration {
	c.t.Helper()
	c.expect(text)
	at := time.Now()
	if _, err := c.keys.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
	return c.came().Sub(at)
}

// quiet waits until there was no output for the duration.
func (c *console) quiet(d time.Duration) {
	for {
		c.mu.Lock()
		left := d - time.Since(c.last)
		c.mu.Unlock()
		if left <= 0 {
			return
		}
		time.Sleep(left) // waits for silence
	}
}

// used is the resource usage of a process, as the kernel reports it.
type used struct {
	ticks    int           // CPU time in hundredths of a second
	cpu      time.Duration // CPU time in nanoseconds
	switches int           // number of context switches
	peak     int64         // peak memory in bytes
}

func (c *console) used() (u used) {
	c.t.Helper()
	pid := c.cmd.Process.Pid
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		c.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may contain anything
	for _, field := range strings.Fields(rest)[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			c.t.Fatal(err)
		}
		u.ticks += n
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
		if err != nil {
			continue // the thread has ended
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name())); err == nil {
			u.cpu += time.Duration(number(string(stat), ""))
		}
		u.switches += number(string(status), "\nvoluntary_ctxt_switches:")
		u.peak = int64(number(string(status), "VmHWM:")) << 10
	}
	return u
}

// number returns the number after a name.
func number(text, name string) int {
	_, rest, _ := strings.Cut(text, name)
	n := 0
	_, _ = fmt.Sscanf(rest, "%d", &n) // 0 if none exists
	return n
}

// at returns a quantile of times.
func at(q float64, times []time.Duration) time.Duration {
	times = slices.Clone(times)
	slices.Sort(times)
	return times[min(len(times)-1, int(q*float64(len(times))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mb(n int64) float64 { return float64(n) / (1 << 20) }
