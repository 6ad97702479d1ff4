package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Gate is a file that a command can wait at: `cat NAME` ends when the gate is opened.
type Gate struct {
	env  *Env
	path string
}

// NewGate creates a Gate in the project.
func (w *Env) NewGate(name string) Gate {
	w.t.Helper()
	g := Gate{w, filepath.Join(w.Project, name)}
	if err := syscall.Mkfifo(g.path, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return g
}

// Open releases the command that waits, or the first one to come.
func (g Gate) Open() {
	g.env.t.Helper()
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(g.path, []byte("open\n"), 0o600) }()
	select {
	case err := <-done:
		if err != nil {
			g.env.t.Fatal(err)
		}
	case <-time.After(*maxWait):
		g.env.t.Fatalf("nobody came to the gate %s", g.path)
	}
}

// Asked returns the bodies of the requests that the provider received.
func (w *Env) Asked() []string {
	var bodies []string
	for _, r := range w.Server.Requests() {
		bodies = append(bodies, string(r.Body))
	}
	return bodies
}

// Server is a running pawl serve.
type Server struct {
	URL string

	env *Env
	cmd *exec.Cmd
	log bytes.Buffer
}

// Serve starts a server on a socket of this environment. It is killed when the test
// ends.
func (w *Env) Serve() *Server {
	w.t.Helper()
	socket := filepath.Join(w.Home, "s")
	s := &Server{URL: "unix://" + socket, env: w}
	s.cmd = w.commands().Command("serve", "--listen", "unix:"+socket)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.end() })
	for deadline := time.Now().Add(*maxWait); ; time.Sleep(poll) { // polls another process
		out, err := exec.Command("curl", "-sf", "--unix-socket", socket, "http://pawl/readyz").CombinedOutput() //nolint:gosec // the test's own
		if err == nil {
			return s
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the server does not come up: %v %s", err, out)
		}
	}
}

// Kill kills the server with SIGKILL.
func (s *Server) Kill() {
	s.env.t.Helper()
	s.end()
}

func (s *Server) end() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// Live reports whether a key of a dialog is active. Before, it has the same style as
// the words after it.
func (s Screen) Live(key, does string) bool {
	for _, row := range s {
		text := textOf(row)
		if at := strings.Index(text, " "+key+" "+does); at >= 0 {
			at = cellAt(row, at+1)
			return row[at].Style != row[at+len([]rune(key))+1].Style
		}
	}
	return false
}

// Focused waits until a text is visible and the prompt has the keyboard: a choice is marked.
func (x *Terminal) Focused(text string) {
	x.t.Helper()
	x.Await(text, "❯ ")
}

// Choose waits until a prompt with a choice has the keyboard, and chooses it by its number.
func (x *Terminal) Choose(number, label string) {
	x.t.Helper()
	x.Focused(number + "  " + label)
	x.Keys(number)
}

// Answer waits until a key of a dialog is active, and presses it.
func (x *Terminal) Answer(key, does string) {
	x.t.Helper()
	x.Until(fmt.Sprintf("%q can be pressed to %s", key, does), func(s Screen) bool { return s.Live(key, does) })
	if name, ok := map[string]string{"enter": "Enter", "esc": "Escape"}[key]; ok {
		key = name
	}
	x.Keys(key)
}
