//go:build e2e

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// newReview returns a project whose model runs commands, each of which replaces the text old of the file a.
func newReview(t *testing.T, script ...string) *harness.Workdir {
	t.Helper()
	b := newProject(t, "", script...)
	b.Write(t, "a", "old\n")
	b.Write(t, "b", "bystander\n")
	return b
}

func bashCall(command string) string {
	text, err := json.Marshal(map[string]any{"name": "bash", "input": map[string]any{"command": command}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

const changesA = "echo new >a; echo {} >c.json; head -c 99 /dev/zero >bin; mkdir .vscode; touch .vscode/tasks.json; echo ran"

// In ask mode a command runs at once, and the user is asked with the diff before its changes are applied.
func TestReview(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall(changesA)), `{"expect":"ran","text":"All done."}`)
	x := startAsk(t, b)
	shown := x.Await(hint)
	for _, want := range []string{
		"Apply the changes of this command?\n  | " + changesA[:20], "3 files changed: 2 lines added, 1 removed\n",
		"  | M a  +1 -1\n", "  | A c.json  +1\n", "  | A bin  binary\n", "  | .vscode/tasks.json: ",
		"  | --- a/a\n  | +++ b/a\n", "  | -old\n  | +new\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if b.Read(t, "a") != "old\n" || b.Read(t, "c.json") != "" {
		t.Error("it was applied before it was permitted")
	}
	x.Type("y\n")
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "new\n" || b.Read(t, "c.json") != "{}\n" || b.Read(t, ".vscode/tasks.json") != "" {
		t.Error("it was permitted, and not applied")
	}
}

// A denial discards the changes, ends the turn without a message, and tells the model with one.
func TestReviewDiscarded(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]string{"": "n\n", "with a message": "use sed\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newReview(t, calls(bashCall(changesA)), `{"expect":"the user discarded its changes and said: use sed","text":"All done."}`)
			x := startAsk(t, b)
			x.Await(hint)
			x.Type(typed)
			if name == "" {
				x.Await("pawl: permission to use bash was denied")
				ended(t, x, cli.ExitDenied)
			} else {
				x.Await("All done.")
				ended(t, x, 0)
			}
			if b.Read(t, "a") != "old\n" || b.Read(t, "c.json") != "" {
				t.Error("what was discarded was applied")
			}
		})
	}
}

// A command that changes nothing needs no question.
func TestReviewOfNothing(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall("cat a; touch /tmp/x; echo x >d; rm d")), `{"expect":"old","text":"All done."}`)
	x := startAsk(t, b)
	x.Await("All done.")
	ended(t, x, 0)
	for _, e := range b.Export(t, string(b.Sessions(t)[0].ID)) {
		if _, ok := e.Body.(pawl.Asked); ok {
			t.Error("it was asked about")
		}
	}
}

// "Always allow" covers the command from then on, with its changes.
func TestReviewAlways(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall("cp b a")), calls(bashCall("cp b a")), done)
	x := startAsk(t, b)
	if shown := x.Await(hint); !strings.Contains(shown, `{"tool":"bash","pattern":"cp b a","decision":"allow"}`) {
		t.Errorf("the rule is not shown:\n%s", shown)
	}
	x.Type("a\n")
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "bystander\n" {
		t.Error("it was not applied")
	}
}

// What the mode does not decide is asked before: rules, jobs, hosts, commands outside of the sandbox, directories that
// commands may write to.
func TestAskedBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input, config string
	}{
		"rule":        {config: `{"permissions":{"rules":[{"tool":"bash","pattern":"touch *","decision":"ask"}]}}`},
		"rule of all": {config: `{"permissions":{"rules":[{"tool":"bash","decision":"ask"}]}}`},
		"job":         {input: `,"background":true`},
		"host":        {input: `,"network":["example.org"]`},
		"own host":    {config: `{"sandbox":{"network":["example.org"]}}`},
		"escape":      {input: `,"unsandboxed":true`},
		"writable":    {config: `{"sandbox":{"writable":["/var/tmp"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newReview(t, calls(`{"name":"bash","input":{"command":"touch new"`+c.input+`}}`), done)
			if c.config != "" {
				configure(t, b, c.config)
			}
			x := startAsk(t, b)
			if shown := x.Await(hint); strings.Contains(shown, "Apply the changes") {
				t.Errorf("it was asked after it ran:\n%s", shown)
			}
			x.Type("n\n")
			ended(t, x, cli.ExitDenied)
		})
	}
}

// variable returns the value of a variable of a project's user.
func variable(b *harness.Workdir, name string) (value string) {
	for _, entry := range b.Env {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text // the last one counts
		}
	}
	return value
}

// Where nobody can be asked, changes are discarded and reported; what changes nothing runs.
func TestReviewWhereNobodyIs(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall("cat a")), `{"expect":"old",`+calls(bashCall(changesA))[1:], `{"expect":"no user is present","text":"All done."}`)
	out := b.Run(t, "run", "--mode", "ask", "--model", "script:s.jsonl", "--format", "json", "go")
	var r turn.Result
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatalf("%v\n%+v", err, out)
	}
	if r.Text != "All done." || len(r.Denials) != 1 || !strings.Contains(r.Denials[0].Reason, "discarded: no user is present") || len(r.FilesChanged) > 0 {
		t.Errorf("got %+v", r)
	}
	if b.Read(t, "a") != "old\n" {
		t.Error("it was applied")
	}
}

// While the user decides, their edits stay theirs: they become conflicts.
func TestReviewConflict(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall("echo new >a; echo more >b")), `{"expect":"a not changed","text":"All done."}`)
	x := startAsk(t, b)
	x.Await(hint)
	b.Write(t, "a", "mine\n")
	other := b.Run(t, "sandbox", "--", "bash", "-c", "echo other >c") // other commands do not wait
	x.Type("y\n")
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "mine\n" || b.Read(t, "b") != "more\n" || b.Read(t, "c") != "other\n" {
		t.Errorf("a is %q, b is %q, c is %q; %+v", b.Read(t, "a"), b.Read(t, "b"), b.Read(t, "c"), other)
	}
}

// A pawl that is killed while it asks applies nothing, then or later, and does not ask again.
func TestKilledWhileInReview(t *testing.T) {
	t.Parallel()
	b := newReview(t, calls(bashCall(changesA)), `{"expect":"they were discarded","text":"All done."}`)
	x := startAsk(t, b)
	x.Await(hint)
	x.Kill()
	x = b.Terminal(t, "resume")
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "old\n" || b.Read(t, "c.json") != "" {
		t.Error("it was applied")
	}
	asked, answered := 0, 0
	for _, e := range b.Export(t, string(b.Sessions(t)[0].ID)) {
		switch a := e.Body.(type) {
		case pawl.Asked:
			asked++
		case pawl.Answered:
			if answered++; a.Outcome != pawl.OutcomeCanceled {
				t.Errorf("the answer is %+v", a)
			}
		default: // not about the question
		}
	}
	if asked != 1 || answered != 1 {
		t.Errorf("%d asks, %d answers", asked, answered)
	}
	if left, err := filepath.Glob(filepath.Join(variable(b, "PAWL_DATA"), "transactions", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A command that outlives its call cannot be asked about: its changes are discarded.
func TestReviewTooLate(t *testing.T) {
	t.Parallel()
	b := newReview(t,
		calls(`{"name":"bash","input":{"command":"echo new >a; sleep 2","timeout":1}}`),
		`{"expect":"still running after 1s.*discarded",`+calls(`{"name":"bash_output","input":{"id":"job_1","wait":60}}`)[1:],
		`{"expect":"exit code 0.*discarded","text":"All done."}`)
	x := startAsk(t, b)
	x.Await("All done.")
	ended(t, x, 0)
	if b.Read(t, "a") != "old\n" {
		t.Error("it was applied without a question")
	}
}
