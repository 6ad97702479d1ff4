package hook_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

const (
	claudeFile = "/home/u/.claude/settings.json"
	pawlFile   = "/home/u/.config/pawl/pawl.json"
)

// env is a directory to run commands in, and what they are run by.
type env struct {
	t      *testing.T
	dir    string
	runner *plainRunner
}

func newEnv(t *testing.T) *env { return &env{t: t, dir: t.TempDir(), runner: &plainRunner{}} }

// config is a file with one command, as JSON.
func config(event, matcher, script, extra string) string {
	line, _ := json.Marshal(script)
	return fmt.Sprintf(`{"model":"x","hooks":{%q:[{"matcher":%q,"hooks":[{"type":"command","command":%s%s}]}]}}`, event, matcher, line, extra)
}

// load returns the hooks of a file and all faults.
func (w *env) load(text string, origin hook.Origin, trusted bool) ([]hook.Hook, []hook.Fault) {
	w.t.Helper()
	list, faults, err := hook.ParseConfig(json.RawMessage(text), origin)
	if err != nil {
		w.t.Fatal(err)
	}
	hooks, more := hook.Outside{Runner: w.runner, Trusted: trusted}.Hooks(list)
	return hooks, append(faults, more...)
}

// run runs the hooks on an event.
func (w *env) run(e hook.Event, hooks ...hook.Hook) hook.Outcome {
	w.t.Helper()
	r, err := hook.New(hooks...)
	if err != nil {
		w.t.Fatal(err)
	}
	o, err := r.Run(w.t.Context(), e)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// sample is an event at the point of that name.
func (w *env) sample(name string) hook.Event {
	p, ok := hook.ParsePoint(name)
	if !ok {
		w.t.Fatalf("no point %q", name)
	}
	e := hook.Event{Point: p, Session: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Dir: w.dir, Turn: 3, Agent: "build", Mode: "guard"}
	switch p {
	case hook.ToolBefore, hook.ToolAfter, hook.PermissionAsk:
		e.Call, e.Tool, e.Input = "c1", "bash", json.RawMessage(`{"command":"ls"}`)
		e.Result = pawl.Result{Content: "a\nb"}
	case hook.ChatMessage:
		e.Parts = pawl.Parts{pawl.Text{Text: "do <it>"}}
	case hook.AssistantDone, hook.SubagentStop:
		e.Reply, e.Reason = "done", pawl.ReasonEndTurn
	case hook.SessionStart:
		e.Source = "startup"
	case hook.SessionEnd:
		e.Reason = "logout"
	case hook.CompactionBefore, hook.CompactionAfter:
		e.Trigger, e.Instructions = "manual", "keep names"
	case hook.Notification:
		e.Source, e.Message = "idle", "waiting"
	}
	return e
}

// A conformance case is a script, an event and the expected outcome.
type conformanceCase struct {
	name    string
	on      string // the event, as the file names it
	matcher string
	script  string
	extra   string // further keys of the command
	file    string // claudeFile if left out
	layer   hook.Layer
	closed  bool // the directory is not trusted
	event   func(*hook.Event)
	want    hook.Outcome
	fault   string // part of the only fault; "" means none
	ran     int    // how often; 0 means once, -1 never
}

func allow(e string) string { return decides(e, "allow") }

func decides(e, decision string) string {
	return say(`{"hookSpecificOutput":{"hookEventName":"` + e + `","permissionDecision":"` + decision + `","permissionDecisionReason":"so"}}`)
}

// say is a script that prints a text.
func say(text string) string { return "cat >/dev/null; cat <<'END'\n" + text + "\nEND" }

func tool(name, input string) func(*hook.Event) {
	return func(e *hook.Event) { e.Tool, e.Input = name, json.RawMessage(input) }
}

// block is the outcome of a refused call.
func block(reason string) hook.Outcome {
	return hook.Outcome{Block: true, Reason: reason, Decision: hook.Deny}
}

func goOn(reason string) hook.Outcome {
	return hook.Outcome{Continue: true, StopBlocked: true, Injection: reason}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	cases := conformanceCases()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.on+" "+c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			c.play(t)
		})
	}
	if len(cases) < 40 {
		t.Errorf("only %d cases", len(cases))
	}
	fmt.Printf("hooks: %d cases\n", len(cases))
}

func (c conformanceCase) play(t *testing.T) {
	w := newEnv(t)
	origin := hook.Origin{File: cmp.Or(c.file, claudeFile), Layer: cmp.Or(c.layer, hook.LayerUser)}
	hooks, faults := w.load(config(c.on, c.matcher, c.script, c.extra), origin, !c.closed)
	e := w.sample(c.on)
	if c.event != nil {
		c.event(&e)
	}
	got := w.run(e, hooks...)
	faults = append(faults, got.Faults...)

	ignore := cmpopts.IgnoreFields(hook.Outcome{}, "By", "Faults")
	reason := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".Reason" }, gocmp.Comparer(func(a, b string) bool {
		return a == b || b != "" && strings.Contains(a, b) || a != "" && strings.Contains(b, a)
	}))
	if diff := gocmp.Diff(c.want, got, ignore, reason); diff != "" {
		t.Errorf("outcome (-want +got):\n%s\nfaults: %v", diff, faults)
	}
	switch {
	case c.fault == "" && len(faults) > 0, c.fault != "" && len(faults) != 1:
		t.Errorf("faults: %v", faults)
	case c.fault != "" && !strings.Contains(faults[0].String(), c.fault):
		t.Errorf("the fault %q does not say %q", faults[0], c.fault)
	}
	if n := len(w.runner.runs); n != max(cmp.Or(c.ran, 1), 0) {
		t.Errorf("run %d times", n)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "canary")); err == nil {
		t.Error("what must not run has run")
	}
}
