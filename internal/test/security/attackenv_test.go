//go:build sectest

package security

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// attackEnv is where one attack is played: a user with a home directory, a workspace,
// and a place outside of it that nothing may touch.
type attackEnv struct {
	*testing.T
	bin      string
	dir      string   // the workspace
	home     string   // of the user
	outside  string   // beside the workspace: a file that comes up here got through
	env      []string // of pawl
	without  string   // the defenses that are taken out
	breaches []string
}

// newAttackEnv makes one. The defenses are taken out in this process and in pawl's.
func newAttackEnv(t *testing.T, without string) *attackEnv {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &attackEnv{
		T: t, bin: harness.Binary(t, "sectest"), without: without,
		dir: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), outside: filepath.Join(base, "outside"),
	}
	for _, dir := range []string{a.dir, a.home, a.outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(defense.Disable(without))
	a.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "LANG=C.UTF-8", "USER=" + os.Getenv("USER"),
		"PAWL_DATA=" + filepath.Join(base, "data"), defense.Var + "=" + without,
	}
	return a
}

// breach says that the attack got through.
func (a *attackEnv) breach(format string, args ...any) {
	a.breaches = append(a.breaches, fmt.Sprintf(format, args...))
}

// write puts a file below a directory; absolute paths are meant as they are.
func (a *attackEnv) write(path, text string) {
	a.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		a.Fatal(err)
	}
}

// read returns a file, "" if it does not exist.
func (a *attackEnv) read(path string) string {
	a.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.Fatal(err)
	}
	return string(text)
}

// exists reports whether something is at a path.
func (a *attackEnv) exists(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	_, err := os.Lstat(path)
	return err == nil
}

// canary is a file outside of the workspace that an attack would make.
func (a *attackEnv) canary(name string) string { return filepath.Join(a.outside, name) }

// canaries reports each file that has come up outside.
func (a *attackEnv) canaries() {
	a.Helper()
	entries, err := os.ReadDir(a.outside)
	if err != nil {
		a.Fatal(err)
	}
	for _, e := range entries {
		a.breach("%s came up outside of the workspace", e.Name())
	}
}

// call is a tool call of the hostile model.
type call struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// in is the input of a call.
type in = map[string]any

func bash(command string) call { return call{"bash", in{"command": command}} }

// outcome is what happened to a run of pawl.
type outcome struct {
	harness.Output
	events  []pawl.Event
	results map[pawl.CallID]pawl.CallFinished
}

// result is the text of the n-th call's result, from 1.
func (o outcome) result(n int) string {
	return o.results[pawl.CallID(fmt.Sprintf("call_%d_1", n))].Result.Content
}

// status is that of the n-th call.
func (o outcome) status(n int) pawl.CallStatus {
	return o.results[pawl.CallID(fmt.Sprintf("call_%d_1", n))].Status
}

// discarded reports whether the changes of the n-th call were discarded, because nobody approved them.
func (o outcome) discarded(n int) bool {
	return strings.Contains(o.result(n), "its changes were discarded")
}

// play has a model make the calls, one a reply, in a mode, headless. Each call
// must have come to a result: an attack that was not made shows nothing.
func (a *attackEnv) play(mode string, calls ...call) outcome {
	a.Helper()
	return a.playWith([]string{"--mode", mode}, calls...)
}

// playWith is play with flags of pawl run.
func (a *attackEnv) playWith(flags []string, calls ...call) outcome {
	a.Helper()
	o := outcome{results: map[pawl.CallID]pawl.CallFinished{}}
	o.Output = a.pawl(slices.Concat([]string{"run", "--format", "stream-json", "--model", a.script(replies(calls...)...)}, flags, []string{"go"})...)
	for line := range strings.Lines(o.Stdout) {
		var e pawl.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			a.Fatalf("pawl printed %q: %v", line, err)
		}
		o.events = append(o.events, e)
		if f, ok := e.Body.(pawl.CallFinished); ok {
			o.results[f.Call] = f
		}
	}
	if len(o.results) != len(calls) {
		a.Fatalf("%d of %d calls were made: exit %d\n%s", len(o.results), len(calls), o.Code, o.Stderr)
	}
	return o
}

// pawl runs the program in the workspace to its end.
func (a *attackEnv) pawl(args ...string) harness.Output {
	a.Helper()
	return harness.Wait(a, a.command(args...))
}

// command is a run of pawl that has not started.
func (a *attackEnv) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(a.Context(), a.bin, args...)
	cmd.Dir, cmd.Env = a.dir, a.env
	return cmd
}

// beside starts a program in the workspace, outside of any sandbox, and waits until it has
// printed a line. It runs until the returned function is called.
func (a *attackEnv) beside(args ...string) (stop func()) {
	a.Helper()
	cmd := exec.CommandContext(a.Context(), args[0], args[1:]...)
	cmd.Dir = a.dir
	out, err := cmd.StdoutPipe()
	a.ok(err)
	a.ok(cmd.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		a.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
}

// git runs git as the attacker or the user would, with no defense at all.
func (a *attackEnv) git(dir string, args ...string) {
	a.Helper()
	cmd := exec.CommandContext(a.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+a.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@y", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@y")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// recorder is a server on loopback that counts who comes.
type recorder struct {
	addr string
	seen atomic.Int64
}

// listen starts a recorder.
func (a *attackEnv) listen() *recorder {
	a.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = l.Close() })
	r := &recorder{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.seen.Add(1)
			_ = c.SetDeadline(time.Now().Add(time.Second))
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			_ = c.Close()
		}
	}()
	return r
}
