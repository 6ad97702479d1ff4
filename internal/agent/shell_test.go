package agent

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// shells has what waits carried out, and returns the ends of the person's commands.
func (w *testEnv) shells() []pawl.ShellRan {
	w.t.Helper()
	if _, ok, err := w.Begin(w.t.Context(), session); ok || err != nil {
		w.t.Fatalf("want nothing left to do, got %v, %v", ok, err)
	}
	var list []pawl.ShellRan
	for _, b := range w.bodies(pawl.ShellRan{}) {
		list = append(list, b.(pawl.ShellRan))
	}
	return list
}

// sh has the person run a command.
func (w *testEnv) sh(command string) pawl.ShellRan {
	w.t.Helper()
	w.append(pawl.ShellAsked{Command: command})
	list := w.shells()
	return list[len(list)-1]
}

// The model knows what the person ran from the next prompt on; it is not called
// for it.
func TestShellIsTheirWord(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"I see."}`}})
	r := w.sh("echo one; echo two >&2; exit 3")
	check(t, pawl.CallDone, r.Status)
	check(t, "3", r.Result.Meta["exit_code"])
	check(t, "one\ntwo\n(exit code 3)", r.Result.Content)
	check(t, 0, len(w.model.requests))
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	messages := w.model.requests[0].Messages
	check(t, 2, len(messages))
	check(t, pawl.RoleUser, messages[0].Role)
	if text := messages[0].Text(); !strings.Contains(text, "echo one; echo two >&2; exit 3") || !strings.Contains(text, "\none\ntwo\n(exit code 3)\n") {
		t.Errorf("the model reads %q", text)
	}
}

// TestShellOutputIsTruncated checks that a large output is truncated in the log and stored completely as a blob.
func TestShellOutputIsTruncated(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	r := w.sh("seq 1 20000")
	if r.Result.Full == nil || len(r.Result.Content) > tool.ResultBytes+1000 {
		t.Fatalf("%d bytes are in the log", len(r.Result.Content))
	}
	blob, err := w.Store.OpenBlob(t.Context(), session, r.Result.Full.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	whole, err := io.ReadAll(blob)
	if err != nil || !strings.HasSuffix(string(whole), "\n19999\n20000\n") || !strings.HasPrefix(string(whole), "1\n2\n") {
		t.Errorf("%d bytes are kept, %v", len(whole), err)
	}
}

// Their word is their permission, whatever the mode asks; what is denied stays so.
func TestShellIsPermitted(t *testing.T) {
	t.Parallel()
	deny := permission.Rule{Kind: pawl.AccessExec, Pattern: "git push*", Decision: permission.Deny}
	ask := permission.Rule{Kind: pawl.AccessExec, Pattern: "touch*", Decision: permission.Ask}
	hooks := func(o hook.Outcome) goHooks {
		return goHooks{{Name: "guards", Points: []hook.Point{hook.ToolBefore}, Run: func(_ context.Context, e hook.Event) (hook.Outcome, error) {
			if e.Tool != "bash" || len(e.Access) != 1 {
				t.Errorf("the hook sees %+v", e)
			}
			return o, nil
		}}}
	}
	for _, c := range []struct {
		name     string
		settings pawl.Settings
		rules    []permission.Rule
		hooks    goHooks
		command  string
		unboxed  bool
		want     pawl.CallStatus
		says     string
	}{
		{name: "no prompt yet", command: "touch ran", want: pawl.CallDone},
		{name: "ask", settings: pawl.Settings{Mode: "ask"}, command: "touch ran", want: pawl.CallDone},
		{name: "auto, without a sandbox", settings: pawl.Settings{Mode: "auto"}, unboxed: true, command: "touch ran", want: pawl.CallDone},
		{name: "plan, without a sandbox", settings: pawl.Settings{Mode: "plan"}, unboxed: true, command: "touch ran", want: pawl.CallDone},
		{name: "nobody was to be asked", settings: pawl.Settings{Mode: "ask", Absent: true}, command: "touch ran", want: pawl.CallDone},
		{name: "what cannot be judged", settings: pawl.Settings{Mode: "auto"}, command: `$(printf touch) ran`, want: pawl.CallDone},
		{name: "an agent without commands", settings: pawl.Settings{Agent: "explore"}, command: "touch ran", want: pawl.CallDone},
		{name: "a rule that asks", rules: []permission.Rule{ask}, command: "touch ran", want: pawl.CallDone},
		{name: "a rule that denies", rules: []permission.Rule{deny}, command: "touch ran; git push origin", want: pawl.CallDenied, says: "git push"},
		{name: "in the mode yolo too", settings: pawl.Settings{Mode: "yolo"}, rules: []permission.Rule{deny}, command: "touch ran; git push", want: pawl.CallDenied, says: "git push"},
		{name: "a hook that refuses", hooks: hooks(hook.Outcome{Block: true, Reason: "not now"}), command: "touch ran", want: pawl.CallDenied, says: "not now"},
		{name: "a hook that would run another", hooks: hooks(hook.Outcome{Input: []byte(`{"command":"true"}`)}), command: "touch ran", want: pawl.CallDenied, says: "another command"},
		{name: "an agent that is gone", settings: pawl.Settings{Agent: "gone"}, command: "touch ran", want: pawl.CallDenied, says: "unknown agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{isDone}})
			authority := w.Authority.(*harness.Authority)
			authority.Rule(c.rules...)
			if c.unboxed {
				authority.Unbox()
			}
			if c.settings.Mode != "" || c.settings.Agent != "" {
				c.settings.Model = modelRef
				prompt := w.append(pawl.Prompted{Settings: c.settings})
				w.append(pawl.TurnStarted{Prompt: prompt})
				w.append(pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
			}
			if c.hooks != nil {
				w.Hooks = c.hooks
			}
			r := w.sh(c.command)
			check(t, c.want, r.Status)
			check(t, c.want == pawl.CallDone, w.has("ran"))
			check(t, c.want == pawl.CallDone, len(w.bodies(pawl.ShellStarted{})) == 1)
			if !strings.Contains(r.Result.Content, c.says) {
				t.Errorf("it says %q", r.Result.Content)
			}
		})
	}
}

// requests are what commands were to run as.
type requests struct {
	tool.Unsandboxed
	mu   sync.Mutex
	list []sandbox.Request
}

func (b *requests) Wrap(ctx context.Context, r sandbox.Request) (sandbox.Wrapped, error) {
	b.mu.Lock()
	b.list = append(b.list, r)
	b.mu.Unlock()
	return b.Unsandboxed.Wrap(ctx, r)
}

// A command of the person is run exactly as the agent's own is: the same
// program, directory and sandbox, whatever files a repository has for shells.
func TestShellIsRunAsTheAgentsCommands(t *testing.T) {
	t.Parallel()
	const command = "type ls; ls; echo $HOSTILE"
	for _, mode := range []string{"plan", "guard", "auto", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			fakeSandbox := &requests{}
			jobs := tool.NewJobs(nil, fakeSandbox)
			w := newEnv(t, setup{script: []string{`{"calls":[` + bash(command) + `]}`, isDone}, tools: []toolapi.Tool{tool.Bash(jobs)}})
			for _, name := range []string{".bashrc", ".bash_profile", ".profile", ".bash_aliases", ".envrc", "ls"} {
				w.write(name, "export HOSTILE=1; alias ls='touch pwned'; ls() { touch pwned; }\n")
			}
			w.prompt("go", inMode(mode))
			w.mustTurn(pawl.ReasonEndTurn)
			r := w.sh(command)
			check(t, 2, len(fakeSandbox.list))
			check(t, fakeSandbox.list[0], fakeSandbox.list[1], cmpopts.IgnoreFields(sandbox.Request{}, "Call"))
			check(t, w.results()[0].Result, r.Result, cmpopts.IgnoreMapEntries(func(key, _ string) bool { return key == "duration_ms" }))
			check(t, false, w.has("pwned"))
		})
	}
}

// While a turn is open a command waits for its end; prompts that wait come after.
func TestShellWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	var w *testEnv
	order := newTool("order", pawl.AccessRead, func(context.Context, toolapi.Call) (pawl.Result, error) {
		w.append(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "later"}}, Delivery: pawl.DeliverQueue, Settings: pawl.Settings{Model: modelRef}})
		w.append(pawl.ShellAsked{Command: "touch ran"})
		return pawl.Result{Content: "ok"}, nil
	})
	w = newEnv(t, setup{script: []string{`{"calls":[{"name":"order"}]}`, isDone, isDone}, tools: []toolapi.Tool{order, tool.Bash(tool.NewJobs(nil, tool.Unsandboxed{}))}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, true, w.has("ran"))
	var kinds []pawl.Kind
	for _, b := range w.bodies(pawl.TurnStarted{}, pawl.TurnFinished{}, pawl.ShellAsked{}, pawl.ShellStarted{}, pawl.ShellRan{}) {
		kinds = append(kinds, pawl.KindOf(b))
	}
	check(t, []pawl.Kind{"turn.started", "shell.asked", "turn.finished", "shell.started", "shell.ran", "turn.started", "turn.finished"}, kinds)
}

// prints waits until a command of the person's has printed something.
func (w *testEnv) prints(asked pawl.Seq, text string) {
	var all string
	for e, err := range w.bus.Events(w.t.Context(), session, asked) {
		if p, ok := e.Body.(pawl.Progress); ok && p.Call == asked.ShellCall() {
			all += p.Text
		}
		if err != nil || strings.Contains(all, text) {
			return
		}
	}
}

// A command that was running when pawl died is not run again; its end says that
// nobody knows the result, and what has changed. It can be undone.
func TestShellIsRunOnce(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{isDone}})
	w.write("a", "before\n")
	asked := w.append(pawl.ShellAsked{Command: "echo run >> a; echo begun; exec sleep 1000"})
	ctx, die := context.WithCancelCause(t.Context())
	shutdown := errors.New("shutting down")
	go func() {
		w.prints(asked, "begun")
		die(shutdown)
	}()
	if _, _, err := w.Begin(ctx, session); !errors.Is(err, shutdown) {
		t.Fatalf("got %v", err)
	}
	check(t, 0, len(w.bodies(pawl.ShellRan{})))
	w.Stepper = NewStepper(w.Config)
	r := w.shells()[0]
	check(t, pawl.CallUnknown, r.Status)
	for _, want := range []string{"outcome", "unknown", "not run again", "+run\n"} {
		if !strings.Contains(r.Result.Content, want) {
			t.Errorf("it does not say %q: %s", want, r.Result.Content)
		}
	}
	check(t, map[string]string{"a": "-rw-r--r-- before\nrun\n"}, w.show())
	check(t, 1, len(w.conversation()))
	check(t, []string{"a"}, w.order(pawl.Undo{}).Changed)
	check(t, map[string]string{"a": "-rw-r--r-- before\n"}, w.show())
	check(t, 0, len(w.conversation()))
}

// A cancel ends a command that runs, and one that still waits is not run. What was
// ordered after the cancel is.
func TestShellIsCanceled(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{isDone}})
	first := w.append(pawl.ShellAsked{Command: "echo half > a; echo begun; exec sleep 1000"})
	second := w.append(pawl.ShellAsked{Command: "touch second"})
	w.append(pawl.ShellAsked{Command: "touch third"})
	go func() {
		w.prints(first, "begun")
		w.Interrupt(session, second)
	}()
	list := w.shells()
	check(t, []pawl.CallStatus{pawl.CallCanceled, pawl.CallCanceled, pawl.CallDone}, []pawl.CallStatus{list[0].Status, list[1].Status, list[2].Status})
	check(t, "begun\n\n(canceled)", list[0].Result.Content)
	check(t, "not run: canceled", list[1].Result.Content)
	check(t, map[string]string{"a": "-rw-r--r-- half\n", "third": "-rw-r--r-- "}, w.show())
	if list[0].Snapshot == "" {
		t.Error("what it did until then cannot be undone")
	}
	check(t, 2, len(w.conversation()))
	w.Forget(session)
	check(t, pawl.CallDone, w.sh("true").Status)
}

// A command of the person is undone and redone by itself, and together with the
// turn before it.
func TestShellIsUndone(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{`{"calls":[` + bash("printf 1 > a") + `]}`, isDone}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	before := w.conversation()
	w.sh("printf 2 > a; touch b")
	after := w.conversation()
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, w.newest(pawl.ShellStarted{}), plan.To)
	check(t, "!printf 2 > a; touch b", plan.Prompt.Text())
	check(t, 1, plan.Messages)
	w.order(pawl.Undo{})
	check(t, map[string]string{"a": "-rw-r--r-- 1"}, w.show())
	check(t, before, w.conversation())
	w.order(pawl.Undo{Redo: pawl.LastUndo})
	check(t, map[string]string{"a": "-rw-r--r-- 2", "b": "-rw-r--r-- "}, w.show())
	check(t, after, w.conversation())

	w.order(pawl.Undo{To: w.newest(pawl.TurnStarted{})})
	check(t, map[string]string{}, w.show())
	check(t, 0, len(w.conversation()))
	w.sh("touch c") // the session went on
	if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{Redo: pawl.LastUndo}); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a redo would undo what the person did: %v", err)
	}
	check(t, true, slices.ContainsFunc(w.conversation(), func(m pawl.Message) bool { return strings.Contains(m.Text(), "touch c") }))
}
