package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/hook"
)

// pipe is a named pipe in the directory. alive reports whether anybody holds it.
func (w *env) pipe() (alive func() bool) {
	w.t.Helper()
	name := filepath.Join(w.dir, "held")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = f.Close() })
	return func() bool {
		_ = f.SetReadDeadline(time.Now().Add(time.Second)) // only waited for if the test fails
		_, err := io.Copy(io.Discard, f)
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
}

// family is a script whose children hold the pipe, one of them in a session of
// its own.
const family = `exec 9>held; sleep 1000 & setsid sleep 1000 & echo up; `

// TestNothingStays: whatever a command starts ends with it.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, script, extra string }{
		{"after it ended", family + "exit 0", ""},
		{"after a timeout", family + "wait", `,"timeout":0.3`},
		{"after a timeout that is not listened to", `trap "" TERM; ` + family + "wait; wait; sleep 1000", `,"timeout":0.3`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			alive := w.pipe()
			hooks, _ := w.load(config("Stop", "", test.script, test.extra), hook.Origin{Layer: hook.LayerUser}, true)
			w.run(w.sample("Stop"), hooks...)
			if alive() {
				t.Error("a process was left behind")
			}
		})
	}
}

// TestCancelKills: a canceled turn ends a command and all its children.
func TestCancelKills(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	alive := w.pipe()
	hooks, _ := w.load(config("PreToolUse", "", family+"wait", ""), hook.Origin{Layer: hook.LayerUser}, true)
	r, err := hook.New(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("esc")
	ctx, cancel := context.WithCancelCause(t.Context())
	w.runner.heard = func() { cancel(why) }
	o, err := r.Run(ctx, w.sample("PreToolUse"))
	if !errors.Is(err, why) || !o.Block {
		t.Errorf("%+v, %v", o, err)
	}
	if alive() {
		t.Error("a process was left behind")
	}
}

// TestOnce: the same command is run once for an event, in its strongest layer,
// and only where a matcher of its own asks for it.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	user, project := hook.Origin{File: claudeFile, Layer: hook.LayerUser}, hook.Origin{File: "/w/.claude/settings.json", Layer: hook.LayerProject}
	x := func(o hook.Origin, matcher string, command ...string) hook.External {
		return hook.External{Point: hook.ToolBefore, Matcher: matcher, Args: command, Origin: o}
	}
	hooks, faults := hook.Outside{Runner: w.runner, Trusted: true}.Hooks([]hook.External{
		x(user, "Bash", "true"), x(project, "", "true"), x(project, "Bash|Edit", "true"), x(project, "", "true", "other"),
	})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	w.run(w.sample("PreToolUse"), hooks...)
	var got []string
	for _, c := range w.runner.runs {
		got = append(got, string(c.Origin.Layer)+" "+strings.Join(c.Args, " "))
	}
	if want := []string{"project true other", "user true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	e := w.sample("PreToolUse")
	tool("edit", `{"path":"a"}`)(&e)
	w.runner.runs = nil
	if w.run(e, hooks...); len(w.runner.runs) != 2 || w.runner.runs[0].Origin.Layer != hook.LayerProject {
		t.Errorf("%+v", w.runner.runs)
	}
}

// TestUserAfterProject: what a project's command rewrites, the user's guard
// sees, in whatever order they are given.
func TestUserAfterProject(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	guard, _, err := hook.ParseConfig(json.RawMessage(config("PreToolUse", "Bash", `grep -q evil && { echo no >&2; exit 2; }; exit 0`, "")), hook.Origin{File: claudeFile, Layer: hook.LayerUser})
	if err != nil {
		t.Fatal(err)
	}
	rewrite, _, err := hook.ParseConfig(json.RawMessage(config("PreToolUse", "Bash", say(`{"hookSpecificOutput":{"updatedInput":{"command":"evil"}}}`), "")), hook.Origin{File: "/w/.claude/settings.json", Layer: hook.LayerProject})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]hook.External{slices.Concat(guard, rewrite), slices.Concat(rewrite, guard)} {
		hooks, _ := hook.Outside{Runner: w.runner, Trusted: true}.Hooks(list)
		if o := w.run(w.sample("PreToolUse"), hooks...); !o.Block || o.Reason != "no" {
			t.Errorf("%+v", o)
		}
	}
}

// TestExecForm: arguments are no shell's business, whatever the directory is called.
func TestExecForm(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.dir = filepath.Join(w.dir, "a; touch canary; $(touch canary)")
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"hooks":{"SessionStart":[{"hooks":[
		{"type":"command","command":["printf","%s|","${CLAUDE_PROJECT_DIR}/x","$HOME"]},
		{"type":"command","command":"printf","args":["%s|","$PAWL_PROJECT_DIR/y"]},
		{"type":"command","command":"printf %s \"$CLAUDE_PROJECT_DIR\""}]}]}}`
	hooks, faults := w.load(text, hook.Origin{File: claudeFile, Layer: hook.LayerUser}, true)
	o := w.run(w.sample("SessionStart"), hooks...)
	if want := []string{w.dir + "/x|$HOME|", w.dir + "/y|", w.dir}; !slices.Equal(o.Context, want) || len(faults)+len(o.Faults) > 0 {
		t.Errorf("%q, %v %v", o.Context, faults, o.Faults)
	}
	if found, _ := filepath.Glob(filepath.Join(w.dir, "canary")); len(found) > 0 {
		t.Error("a shell has read the folder's name")
	}
}

// TestNoRunner: a command that cannot be run is left out and told; one whose
// runner fails refuses the call.
func TestNoRunner(t *testing.T) {
	t.Parallel()
	x := hook.External{Point: hook.ToolBefore, Command: "true", Origin: hook.Origin{Layer: hook.LayerUser}}
	if hooks, faults := (hook.Outside{}).Hooks([]hook.External{x}); len(hooks) != 0 || len(faults) != 1 {
		t.Error(hooks, faults)
	}
	w := newEnv(t)
	x.Args = []string{"/no/such/program"}
	hooks, _ := hook.Outside{Runner: w.runner}.Hooks([]hook.External{x})
	if o := w.run(w.sample("PreToolUse"), hooks...); !o.Block || !strings.Contains(o.Reason, "run the command") {
		t.Errorf("%+v", o)
	}
}
