// Package mission has whole missions: the real program in a real repository,
// with a scripted team.
package mission

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// Env is a repository and a team that follows a script.
type Env struct {
	*harness.Workdir
	t      testing.TB
	script []Line
}

// Line is a reply of the script; see docs/reference/scripted-model.md.
type Line struct {
	Agent   string `json:"agent,omitempty"`
	Text    string `json:"text,omitempty"`
	Calls   []Call `json:"calls,omitempty"`
	DelayMS int    `json:"delay_ms,omitempty"`
	Fault   string `json:"fault,omitempty"`
	Expect  string `json:"expect,omitempty"`
	Finish  string `json:"finish,omitempty"`
	Usage   Object `json:"usage,omitempty"`
}

// Call is a call of a tool.
type Call struct {
	Name  string `json:"name"`
	Input any    `json:"input"`
}

// Object is the input of a call.
type Object map[string]any

// New returns a repository with these files committed.
func New(t testing.TB, bin string, files map[string]string) *Env {
	t.Helper()
	b := harness.NewWorkdir(t, bin, harness.Stores["sqlite"](t))
	home := b.Dir + "-home"
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	// The system's own programs come first: others may be wrappers that need more than
	// a sandbox shows. What the checks cache is shared by all tests.
	b.Env = append(b.Env, "PATH=/usr/bin:"+os.Getenv("PATH"), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, ".cache"))
	return At(t, b, files)
}

// At returns a repository in the directory of b, which it creates.
func At(t testing.TB, b *harness.Workdir, files map[string]string) *Env {
	t.Helper()
	w := &Env{Workdir: b, t: t}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.Git("init", "-q", "-b", "main", ".")
	w.Commit(files)
	return w
}

// Git runs git in the repository.
func (w *Env) Git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
	cmd.Dir = w.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Commit writes files and commits them.
func (w *Env) Commit(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(w.Dir, filepath.Dir(name)), 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.Write(w.t, name, text)
	}
	w.Git("add", "-A", "-f")
	w.Git("commit", "-q", "-m", "c")
}

// Lead adds replies of the Commander: each a text, or calls.
func (w *Env) Lead(replies ...any) { w.As("", replies...) }

// As adds replies of an agent, such as worker:T1. A reply is a text, a Call, a
// []Call or a whole Line.
func (w *Env) As(agent string, replies ...any) {
	w.t.Helper()
	for _, r := range replies {
		line := Line{Agent: agent}
		switch r := r.(type) {
		case string:
			line.Text = r
		case Call:
			line.Calls = []Call{r}
		case []Call:
			line.Calls = r
		case Line:
			line = r
			line.Agent = agent
		default:
			w.t.Fatalf("a reply cannot be a %T", r)
		}
		w.script = append(w.script, line)
	}
}

// Task is a task as the tool plan has it. What it owns stands before the colon.
func Task(id, title string, files []string, after ...string) Object {
	return Object{"id": id, "title": title, "files": files, "after": after}
}

// Plan is the call that plans tasks.
func Plan(tasks ...Object) Call { return Call{"plan", Object{"tasks": tasks}} }

// Delegate gives tasks to workers; all if none are named.
func Delegate(ids ...string) Call { return Call{"delegate", Object{"tasks": ids}} }

// Seal asks for the seal.
func Seal() Call { return Call{"seal", Object{}} }

// WriteFile writes a file.
func WriteFile(path, text string) Call { return Call{"write", Object{"path": path, "content": text}} }

// Shell runs a command.
func Shell(command string) Call { return Call{"bash", Object{"command": command}} }

// Verdict is a reviewer's, that each of these holds.
func Verdict(holds bool, ids ...string) Call {
	var list []Object
	for _, id := range ids {
		list = append(list, Object{"id": id, "holds": holds, "why": "as the code shows"})
	}
	return Call{"verdict", Object{"criteria": list, "problems": []string{}}}
}

// Changed is a check that fails on the base and passes once a file has changed: without one of this kind, a mission that
// changes no code is not sealed. The gate gives all files an old date, but those that have changed.
const Changed = `sh -c 'test -n "$(find . -path ./.git -prune -o -type f -newermt 2021-01-01 -print)"'`

// Command returns 'pawl mission' with the script.
func (w *Env) Command(args ...string) *exec.Cmd {
	w.t.Helper()
	return w.Workdir.Command(append([]string{"mission", "--model", "script:" + w.Script(), "--mode", "guard"}, args...)...)
}

// Script writes the script and returns where it is.
func (w *Env) Script() string {
	w.t.Helper()
	var b strings.Builder
	for _, l := range w.script {
		text, err := json.Marshal(l)
		if err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	path := w.Dir + "-script.jsonl"
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// Run has the mission run to its end.
func (w *Env) Run(args ...string) harness.Output {
	w.t.Helper()
	return harness.Wait(w.t, w.Command(args...))
}

// Board returns the only mission there is.
func (w *Env) Board() pawl.Board {
	w.t.Helper()
	var b pawl.Board
	out := w.Must(w.t, "mission", "status", "--json")
	if err := json.Unmarshal([]byte(out.Stdout), &b); err != nil {
		w.t.Fatal(err)
	}
	return b
}
