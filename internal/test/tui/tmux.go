package tui

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Size is the size of a terminal, in cells.
type Size struct{ Width, Height int }

func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Width, s.Height) }

// The usual sizes.
var (
	Normal = Size{80, 24}
	Large  = Size{120, 40}
)

// Waits are long, because the machine may be busy.
var maxWait = flag.Duration("wait", time.Minute, "how long something is waited for")

// poll is how often the screen is checked.
const poll = 25 * time.Millisecond

// settings configures tmux: no status line, no delay after escape, and exited programs
// stay visible.
const settings = `set -g status off
set -g remain-on-exit on
set -s escape-time 0
set -g focus-events on
set -g history-limit 100
`

// Terminal is pawl in a terminal emulator.
type Terminal struct {
	t      testing.TB
	env    *Env
	socket string
	size   Size
	pid    int
}

// Start starts pawl in a new terminal, which ends with the test.
func (w *Env) Start(size Size, args ...string) *Terminal {
	w.t.Helper()
	dir, err := os.MkdirTemp("", "pawl-tmux-") // short: a socket is in it
	if err != nil {
		w.t.Fatal(err)
	}
	x := &Terminal{t: w.t, env: w, size: size, socket: filepath.Join(dir, "s")}
	config := filepath.Join(dir, "conf")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_, _ = x.run("", "kill-server") // it has ended, if starting it failed
		_ = os.RemoveAll(dir)
	})
	start := []string{"-f", config, "new-session", "-d", "-s", "pawl", "-x", strconv.Itoa(size.Width), "-y", strconv.Itoa(size.Height), "-c", w.Project}
	start = append(start, "--", "env", "-i")
	start = append(append(start, w.Environ()...), w.Bin)
	x.tmux("", append(start, args...)...)
	if x.pid, err = strconv.Atoi(strings.TrimSpace(x.tmux("", "display-message", "-p", "-t", "pawl", "#{pane_pid}"))); err != nil {
		w.t.Fatal(err)
	}
	return x
}

// run runs a tmux command.
func (x *Terminal) run(input string, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...) //nolint:gosec // the test's own words
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "TMUX=")
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, stderr.String())
	}
	return string(out), nil
}

func (x *Terminal) tmux(input string, args ...string) string {
	x.t.Helper()
	out, err := x.run(input, args...)
	if err != nil {
		x.t.Fatal(err)
	}
	return out
}

// Keys presses keys by their tmux names: C-p, Enter, Escape, PPage, F1, M-Up.
func (x *Terminal) Keys(names ...string) {
	x.t.Helper()
	x.tmux("", append([]string{"send-keys", "-t", "pawl"}, names...)...)
}

// Type types a text.
func (x *Terminal) Type(text string) {
	x.t.Helper()
	x.tmux("", "send-keys", "-t", "pawl", "-l", "--", text)
}

// Say types a prompt and sends it.
func (x *Terminal) Say(prompt string) {
	x.t.Helper()
	x.Type(prompt)
	x.Await(lastLine(prompt))
	x.Keys("Enter")
}

// lastLine returns the part of a prompt that is certainly visible.
func lastLine(prompt string) string {
	return prompt[max(0, len(prompt)-10):]
}

// Paste pastes a text as terminals do, bracketed if pawl has requested it.
func (x *Terminal) Paste(text string) {
	x.t.Helper()
	x.tmux(text, "load-buffer", "-b", "paste", "-")
	x.tmux("", "paste-buffer", "-p", "-d", "-b", "paste", "-t", "pawl")
}

// Resize changes the terminal's size.
func (x *Terminal) Resize(size Size) {
	x.t.Helper()
	x.size = size
	x.tmux("", "resize-window", "-t", "pawl", "-x", strconv.Itoa(size.Width), "-y", strconv.Itoa(size.Height))
}

// Kill kills pawl with SIGKILL.
func (x *Terminal) Kill() {
	x.t.Helper()
	if err := syscall.Kill(x.pid, syscall.SIGKILL); err != nil {
		x.t.Fatal(err)
	}
	x.ended()
}

// ended waits until pawl has exited and returns its exit code.
func (x *Terminal) ended() int {
	x.t.Helper()
	for deadline := time.Now().Add(*maxWait); time.Now().Before(deadline); time.Sleep(poll) { // nothing tells when a screen changes
		dead, status, _ := strings.Cut(strings.TrimSpace(x.tmux("", "display-message", "-p", "-t", "pawl", "#{pane_dead} #{pane_dead_status}#{pane_dead_signal}")), " ")
		switch {
		case dead == "1" && status != "":
			code, _ := strconv.Atoi(status) // a signal may have a name
			return code
		case dead == "1": // tmux 3.3 does not always notice the signal that tells it to ask for the status
			server, err := strconv.Atoi(strings.TrimSpace(x.tmux("", "display-message", "-p", "#{pid}")))
			if err != nil {
				x.t.Fatal(err)
			}
			_ = syscall.Kill(server, syscall.SIGCHLD) // the next status tells whether it helped
		}
	}
	x.t.Fatalf("pawl has not ended:\n%s", x.Screen())
	return 0
}

// Screen returns the current screen, masked.
func (x *Terminal) Screen() Screen {
	x.t.Helper()
	return masked(parse(x.tmux("", "capture-pane", "-p", "-e", "-N", "-t", "pawl")))
}

// Until waits until the screen satisfies ok.
func (x *Terminal) Until(what string, ok func(Screen) bool) Screen {
	x.t.Helper()
	var s Screen
	for deadline := time.Now().Add(*maxWait); time.Now().Before(deadline); time.Sleep(poll) { // nothing tells when a screen changes
		if s = x.Screen(); ok(s) {
			return s
		}
	}
	x.t.Fatalf("this did not come up: %s\nthis is seen:\n%s", what, s)
	return s
}

// Await waits until all texts are visible at once.
func (x *Terminal) Await(texts ...string) Screen {
	x.t.Helper()
	return x.Until(fmt.Sprintf("%q", texts), func(s Screen) bool {
		for _, text := range texts {
			if !s.Has(text) {
				return false
			}
		}
		return true
	})
}

// Vanished waits until a text is no longer visible.
func (x *Terminal) Vanished(text string) Screen {
	x.t.Helper()
	return x.Until("no "+text, func(s Screen) bool { return !s.Has(text) })
}
