package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// hooked are hooks of the user: real commands, and what they learn in
// the workspace's directory.
type hooked struct{ list []hook.External }

func (h hooked) Hooks(context.Context, string, pawl.Settings) (*hook.Registry, []hook.Fault, error) {
	hooks, faults := hook.Outside{Runner: h, Trusted: true}.Hooks(h.list)
	r, err := hook.New(hooks...)
	return r, faults, err
}

func (hooked) Run(ctx context.Context, c hook.Command) (int, error) {
	exit, err := proc.Run(ctx, proc.Command{Args: c.Args, Dir: c.Dir, Env: c.Env, Bare: true, Stdin: bytes.NewReader(c.Stdin), Output: c.Stdout, Stderr: c.Stderr})
	return exit.Code, err
}

// hook adds a command of the user. What it says with allow counts.
func (w *testEnv) hook(event, matcher, script string) {
	w.t.Helper()
	point, ok := hook.ParsePoint(event)
	if !ok {
		w.t.Fatalf("no point %s", event)
	}
	h, _ := w.Hooks.(hooked)
	h.list = append(h.list, hook.External{Point: point, Event: event, Matcher: matcher, Command: script, CanAllow: true, Origin: hook.Origin{File: "pawl.json", Layer: hook.LayerUser}})
	w.Hooks = h
}

const (
	touchA   = `{"calls":[{"name":"bash","input":{"command":"touch a"}}]}`
	isDone   = `{"text":"done"}`
	changesA = `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"touch b"}}}'`
)

func (w *testEnv) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// link makes a link in the workspace, and the directory that it is in.
func (w *testEnv) link(name, to string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
		w.t.Fatal(err)
	}
}

// TestHookRules: what hooks say of a call counts together with the rules, and a
// rule that denies stays, whatever input a hook makes up.
func TestHookRules(t *testing.T) {
	t.Parallel()
	denyB := permission.Rule{Tool: "bash", Pattern: "touch b", Decision: permission.Deny}
	for name, test := range map[string]struct {
		mode   string
		rules  []permission.Rule
		hook   string
		status pawl.CallStatus
		says   string
		file   string // that is there after it; "" means neither
		input  string // in the log
		asks   bool
	}{
		"it refuses":                      {mode: "yolo", hook: "echo not this >&2; exit 2", status: pawl.CallDenied, says: "not this"},
		"it changes the input":            {mode: "yolo", hook: changesA, status: pawl.CallDone, says: `it ran with {"command":"touch b"}`, file: "b", input: `{"command":"touch b"}`},
		"it changes it to what is denied": {mode: "yolo", rules: []permission.Rule{denyB}, hook: changesA, status: pawl.CallDenied, says: "not permitted"},
		"it changes it to nonsense":       {mode: "yolo", hook: `echo '{"hookSpecificOutput":{"updatedInput":{"word":1}}}'`, status: pawl.CallRefused, says: "a hook changed the input"},
		"its yes is the person's":         {mode: "ask", hook: changesA, status: pawl.CallDone, file: "b", input: `{"command":"touch b"}`},
		"it has a person asked":           {mode: "yolo", hook: `echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`, status: pawl.CallDone, file: "a", asks: true},
		"it is killed":                    {mode: "yolo", hook: "kill -9 $$", status: pawl.CallDenied, says: "failed"},
		"it adds a word":                  {mode: "yolo", hook: `echo '{"hookSpecificOutput":{"additionalContext":"mind b"}}'`, status: pawl.CallDone, says: "[hook] mind b", file: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{touchA, isDone}})
			w.authority().Rule(test.rules...)
			w.hook("PreToolUse", "Bash", test.hook)
			w.prompt("go", inMode(test.mode))
			if test.asks {
				go w.answerAll(t.Context(), pawl.Answer{Outcome: pawl.OutcomeAnswered})
			}
			w.mustTurn(pawl.ReasonEndTurn)
			result := w.results()[0]
			check(t, test.status, result.Status)
			if !strings.Contains(result.Result.Content, test.says) {
				t.Errorf("the model reads %q, want %q", result.Result.Content, test.says)
			}
			for _, file := range []string{"a", "b"} {
				check(t, test.file == file, w.has(file))
			}
			var input string
			for _, b := range w.bodies(pawl.CallStarted{}) {
				input = string(b.(pawl.CallStarted).Input)
			}
			check(t, test.input, input)
			check(t, test.asks, len(w.bodies(pawl.Asked{})) > 0)
		})
	}
}

// TestHookOtherProcess: what one process has permitted, another one that runs it
// puts to the hooks again: an input that they changed is not lost between them.
func TestHookOtherProcess(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{touchA, isDone}})
	w.hook("PreToolUse", "Bash", changesA)
	w.prompt("go", inMode("yolo"))
	turn, _, err := w.Begin(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	turn.Step = 1
	if err := w.Prepare(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	reply, err := w.Generate(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := w.Authorize(t.Context(), turn, reply.Calls)
	if err != nil {
		t.Fatal(err)
	}
	w.Forget(session)
	if err := w.Execute(t.Context(), turn, ids); err != nil {
		t.Fatal(err)
	}
	check(t, []bool{false, true}, []bool{w.has("a"), w.has("b")})
}

// TestHookBegun: what a call began with is what it runs with again, and no hook
// is asked about it.
func TestHookBegun(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"read","input":{"path":"a"}}]}`, isDone}})
	for name, text := range map[string]string{"a": "first", "b": "second"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.hook("PreToolUse", "", "touch asked")
	w.prompt("go", inMode("yolo"))
	turn, _, err := w.Begin(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	turn.Step = 1
	if _, err := w.Generate(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	w.append(pawl.CallStarted{Call: "call_1_1", Tool: "read", ReadOnly: true, Access: []pawl.Access{{Kind: pawl.AccessRead, Target: "b"}}, Input: json.RawMessage(`{"path":"b"}`)})
	w.mustTurn(pawl.ReasonEndTurn)
	if got := w.results()[0].Result.Content; !strings.Contains(got, "second") || w.has("asked") {
		t.Errorf("it read %q; hooks asked: %v", got, w.has("asked"))
	}
}

// TestHookPrompts: a prompt that a hook refuses is kept from the model, when it
// begins a turn and when it steers one.
func TestHookPrompts(t *testing.T) {
	t.Parallel()
	const noSecrets = "if grep -q secret; then echo no secrets >&2; exit 2; fi; echo it is noon"
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"list","input":{}}]}`, isDone}})
	w.hook("UserPromptSubmit", "", noSecrets)
	w.prompt("my secret is 1", inMode("yolo"))
	w.prompt("go", inMode("yolo"), queue)
	steered := false
	w.model.taken = func(model.Chunk) {
		if !steered {
			steered = true
			w.prompt("another secret is 2", inMode("yolo"), steer)
		}
	}
	w.mustTurn(pawl.ReasonEndTurn)
	ends := w.bodies(pawl.TurnFinished{})
	first := ends[0].(pawl.TurnFinished)
	check(t, pawl.ReasonPermissionDenied, first.Reason)
	if !strings.HasSuffix(first.Message, "no secrets") {
		t.Errorf("the person reads %q", first.Message)
	}
	check(t, 1, len(w.bodies(pawl.Withdrawn{})))
	check(t, 2, len(w.model.requests))
	for _, r := range w.model.requests {
		var all strings.Builder
		for _, m := range r.Messages {
			all.WriteString(m.Text())
		}
		if text := all.String(); strings.Contains(text, "secret is") || !strings.Contains(text, "it is noon") {
			t.Errorf("the model reads %q", text)
		}
	}
	for i, e := range w.events() {
		if e.Turn > 2 {
			t.Errorf("event %d is of turn %d", i, e.Turn)
		}
	}
}

// TestHookStop: hooks keep a turn going so often and no more, and the log knows
// how often, so that another process counts on.
func TestHookStop(t *testing.T) {
	t.Parallel()
	lines := make([]string, 9)
	for i := range lines {
		lines[i] = isDone
	}
	w := newEnv(t, setup{script: lines})
	w.hook("Stop", "", "echo more >&2; exit 2")
	w.prompt("go", inMode("yolo"))
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, hook.MaxStopBlocks, len(w.bodies(pawl.Injected{})))
	check(t, 9, len(w.model.requests))
}

// TestHookEnds: a hook after a call can end the turn.
func TestHookEnds(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{touchA, isDone}})
	w.hook("PostToolUse", "Bash", `echo '{"continue":false,"stopReason":"enough"}'`)
	w.prompt("go", inMode("yolo"))
	stop := w.mustTurn(pawl.ReasonPermissionDenied)
	if !strings.HasSuffix(stop.Message, "enough") || !w.has("a") {
		t.Errorf("it ended with %q", stop.Message)
	}
}

// TestHookStart: session.start comes once in a process, and the model reads what
// the hook says.
func TestHookStart(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone, isDone}})
	w.hook("SessionStart", "startup", "echo welcome")
	w.prompt("one", inMode("yolo"))
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("two", inMode("yolo"))
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []pawl.Body{pawl.Injected{Source: "hook", Text: "welcome"}}, w.bodies(pawl.Injected{}))
}

// goHooks are hooks written in Go.
type goHooks []hook.Hook

func (h goHooks) Hooks(context.Context, string, pawl.Settings) (*hook.Registry, []hook.Fault, error) {
	r, err := hook.New(h...)
	return r, nil, err
}

// TestHookReworded: a prompt that is reworded while hooks look at it is looked at
// again, and only then taken in.
func TestHookReworded(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	var seen []string
	prompt := w.prompt("harmless", inMode("yolo"))
	w.Hooks = goHooks{{Name: "looks", Points: []hook.Point{hook.ChatMessage}, Run: func(_ context.Context, e hook.Event) (hook.Outcome, error) {
		if seen = append(seen, e.Parts.Text()); len(seen) == 1 {
			w.append(pawl.Reworded{Prompt: prompt, Parts: pawl.Parts{pawl.Text{Text: "harmful"}}})
		}
		return hook.Outcome{Block: e.Parts.Text() == "harmful", Reason: "no"}, nil
	}}}
	if _, ok, err := w.Begin(t.Context(), session); ok || err != nil {
		t.Errorf("a turn was begun: %v %v", ok, err)
	}
	check(t, []string{"harmless", "harmful"}, seen)
	check(t, 0, len(w.model.requests))
}

// TestHookUnknown: where it cannot be determined which hooks exist, no turn is
// worked on.
func TestHookUnknown(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	w.Hooks = goHooks{{Name: "has nothing to run"}}
	w.prompt("go", inMode("yolo"))
	if _, ok, err := w.Begin(t.Context(), session); ok || err != nil {
		t.Errorf("a turn was begun: %v %v", ok, err)
	}
	end := w.bodies(pawl.TurnFinished{})[0].(pawl.TurnFinished)
	if end.Reason != pawl.ReasonError || !strings.Contains(end.Message, "load hooks") {
		t.Errorf("it ended with %+v", end)
	}
}

// TestHookAsked: hooks have a say before a person is asked, and hear of it.
func TestHookAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		says   string // at permission.ask
		status pawl.CallStatus
		asks   bool
	}{
		"nothing": {says: "true", status: pawl.CallDone, asks: true},
		"no":      {says: "exit 2", status: pawl.CallDenied},
		"yes":     {says: `echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'`, status: pawl.CallDone},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{touchA, isDone}})
			w.hook("PermissionRequest", "Bash", test.says)
			w.hook("Notification", "permission_prompt", "touch told")
			w.prompt("go", inMode("ask"))
			go w.answerAll(t.Context(), pawl.Answer{Outcome: pawl.OutcomeAnswered})
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, test.status, w.results()[0].Status)
			check(t, []bool{test.asks, test.asks}, []bool{len(w.bodies(pawl.Asked{})) > 0, w.has("told")})
		})
	}
}

// TestHooksOfASubagent checks that the end of a subagent's turn runs SubagentStop hooks instead of Stop hooks, and that
// its prompts do not run UserPromptSubmit hooks.
func TestHooksOfASubagent(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone, isDone}, parent: "01JD0000000000000000000009"})
	w.hook("Stop", "", "touch stopped")
	w.hook("UserPromptSubmit", "", "touch prompted")
	w.hook("SubagentStop", "", `grep -q '"stop_hook_active":true' || { echo more >&2; exit 2; }`)
	w.prompt("go", inMode("yolo"))
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []pawl.Body{pawl.Injected{Source: "hook", Text: "more"}}, w.bodies(pawl.Injected{}))
	check(t, []bool{false, false}, []bool{w.has("stopped"), w.has("prompted")})
}
