//go:build e2e

package lineui_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

var update = flag.Bool("update", false, "write the goldens")

// newWorkdir returns a working directory for a user without configuration and saved answers.
func newWorkdir(t *testing.T, script ...string) *harness.Workdir {
	t.Helper()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	home := t.TempDir()
	b.Env = append(b.Env, "HOME="+home, "PAWL_CACHE="+filepath.Join(home, "cache"), "PAWL_CONFIG="+filepath.Join(home, "pawl.json"), "TERM=vt100", "PAWL_SCREEN_READER=")
	if err := os.WriteFile(filepath.Join(home, "s.jsonl"), []byte(strings.Join(script, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Env = append(b.Env, "SCRIPT="+filepath.Join(home, "s.jsonl"))
	return b
}

// talk begins a conversation in lines.
func ui(t *testing.T, b *harness.Workdir, mode string, args ...string) *harness.Terminal {
	t.Helper()
	return b.Terminal(t, append([]string{"--screen-reader", "--mode", mode, "--model", "script:" + script(b)}, args...)...)
}

func script(b *harness.Workdir) string {
	_, path, _ := strings.Cut(b.Env[len(b.Env)-1], "=")
	return path
}

var seconds = regexp.MustCompile(`\d+ seconds?\b`)

// transcript is the conversation as it is on the paper, but for what differs each time.
func transcript(b *harness.Workdir, x *harness.Terminal) string {
	text := strings.NewReplacer(b.Dir, "/DIR", filepath.Dir(script(b)), "/HOME", "\n\\ ", "").Replace(x.Screen())
	return seconds.ReplaceAllString(text, "N seconds")
}

// pure fails the test if a byte of the conversation is more than text: the terminal
// is a printer.
func pure(t *testing.T, x *harness.Terminal) {
	t.Helper()
	for i, c := range []byte(x.Screen()) { // its driver's line ends apart
		if (c < ' ' || c == 0x7f) && c != '\n' && c != '\t' {
			t.Errorf("the byte %#x was sent, behind %q", c, x.Screen()[max(0, i-40):i])
		}
	}
}

func quits(t *testing.T, x *harness.Terminal) {
	t.Helper()
	if code := x.Wait(); code != 0 {
		t.Errorf("exit %d:\n%s", code, x.Screen())
	}
	pure(t, x)
}

const (
	runs    = `{"text":"I will look. It may take a while:\n\n- one\n- two","deltas":9,"reasoning":"Hm. Let me see.","calls":[{"name":"bash","input":{"command":"printf 'a\\nb\\n'; exit 3"}}]}`
	writes  = `{"calls":[{"name":"write","input":{"path":"a.txt","content":"x\n"}}]}`
	writesB = `{"calls":[{"name":"write","input":{"path":"b.txt","content":"y\n"}}]}`
	asks    = `{"calls":[{"name":"question","input":{"questions":[{"header":"Color","question":"Which?","options":[{"label":"red","description":"warm"},{"label":"blue"}]}]}}]}`
	done    = `{"text":"All done.","usage":{"input":1200,"output":40,"cost":20000000}}`
)

// step is what a person waits for, and types then.
type step struct{ await, types string }

// Whole conversations, byte by byte as they come to the terminal.
func TestConversations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		mode   string
		script []string
		steps  []step
	}{
		{"work", "yolo", []string{runs, done, done}, []step{
			{"\n> ", "look at it\n"}, {"done: 1 tool", ""}, {"\n> ", "/output\n"}, {"\n> ", "/last\n"}, {"\n> ", "/stats\n"},
			{"\n> ", "once\\\n"}, {"+ ", "more\n"}, {"done: ", ""}, {"\n> ", "/quit\n"},
		}},
		{"reasoning", "yolo", []string{runs, done}, []step{
			{"\n> ", "/reasoning\n"}, {"\n> ", "look at it\n"}, {"\ndone", ""}, {"\n> ", "/quit\n"},
		}},
		{"permission", "ask", []string{writes, writesB, done, done}, []step{
			{"\n> ", "go\n"}, {"number: ", "\n"}, {"number: ", "9\n"}, {"number: ", "5\n"}, {"instead: ", "call it b\n"},
			{"number: ", "/again\n"}, {"number: ", "3\n"}, {"\ndone", ""}, {"\n> ", "/quit\n"},
		}},
		{"declined", "ask", []string{writes}, []step{{"\n> ", "go\n"}, {"number: ", "no\n"}, {"\nnext: ", ""}, {"\n> ", "/quit\n"}}},
		{"question", "ask", []string{asks, done}, []step{{"\n> ", "go\n"}, {"answer: ", "2\n"}, {"\ndone", ""}, {"\n> ", "/quit\n"}}},
		{"back", "yolo", []string{writes, done, writesB, done}, []step{
			{"\n> ", "one\n"}, {"\ndone", ""}, {"\n> ", "two\n"}, {"\ndone", ""}, {"\n> ", "/undo\n"}, {"number: ", "1\n"}, {"\nnote: Undone", ""},
			{"\n> ", "/redo\n"}, {"number: ", "y\n"}, {"\nnote: Redone", ""}, {"\n> ", "/rewind\n"}, {"\n> ", "/rewind 2\n"}, {"number: ", "3\n"}, {"\n> ", "/quit\n"},
		}},
		{"slips", "yolo", []string{`{"fault":"error","text":"no such key"}`}, []step{
			{"\n> ", "/udno\n"}, {"\n> ", "/open 1\n"}, {"\n> ", "/mode nonsense\n"}, {"\n> ", "/rename\n"}, {"\n> ", "/undo\n"},
			{"\n> ", "go\n"}, {"\nnext: Send", ""}, {"\n> ", "\x04"},
		}},
		{"command", "yolo", []string{done}, []step{
			{"\n> ", "!echo here; false\n"}, {"exit code 1", ""}, {"\n> ", "!seq 70\n"}, {"with your next prompt", ""}, {"\n> ", "and now\n"}, {"\ndone", ""}, {"\n> ", "/quit\n"},
		}},
		{"help", "yolo", nil, []step{{"\n> ", "/help\n"}, {"\n> ", "/mode\n"}, {"\n> ", "/new\n"}, {"\n> ", "/sessions\n"}, {"\n> ", "/quit\n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newWorkdir(t, c.script...)
			x := ui(t, b, c.mode)
			for _, s := range c.steps {
				x.Await(s.await)
				x.Type(s.types)
			}
			x.Await("bye")
			quits(t, x)
			golden := filepath.Join("testdata", c.name+".golden")
			got := transcript(b, x)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// waits is a call that ends once the test says so.
const waits = `{"calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.02; done"}}]}`

// What was half typed when a question comes is forgotten: Enter does not complete it
// to an answer.
func TestHalfALineIsForgotten(t *testing.T) {
	t.Parallel()
	outside := strings.Replace(waits, `"input":{`, `"input":{"unsandboxed":true,`, 1) // a command on a view would not see the file
	b := newWorkdir(t, outside, writes, done)
	x := ui(t, b, "ask")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("number: ")
	x.Type("1\n")
	x.Await("tool: bash: ")
	x.Type("1")
	b.Write(t, "go", "")
	x.Await("ask: Edit this file?")
	x.Await("number: ")
	x.Type("\n")
	x.Await("number: ")
	if b.Read(t, "a.txt") != "" {
		t.Fatal("what was typed before the question has answered it")
	}
	x.Type("3\n")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
}

// A paste is one prompt, and waits for an Enter.
func TestPaste(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, `{"expect":"^one\n/quit\n\n!touch x$","text":"Read."}`)
	x := ui(t, b, "yolo")
	x.Await("\n> ")
	x.Type("one\n/quit\n\n!touch x\n")
	x.Await("pasted: 4 lines")
	x.Await("+ ")
	x.Type("\n")
	x.Await("pawl: Read.")
	x.Await("\n> ")
	x.Type("\x04")
	quits(t, x)
}

// A line that is sent while pawl works is read at the next step.
func TestSteer(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, waits, `{"expect":"and the tests","text":"Both."}`)
	x := ui(t, b, "yolo")
	x.Await("\n> ")
	x.Type("fix it\n")
	x.Await("tool: bash: ")
	x.Type("and the tests\n")
	x.Await("sent: read at the next step\n")
	b.Write(t, "go", "")
	x.Await("read: and the tests\n")
	x.Await("pawl: Both.")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
}

// Ctrl-C interrupts the work, with what waits for it; the conversation goes on.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, `{"text":"I am at it. And I will be so for long.","fault":"hang"}`, done)
	x := ui(t, b, "yolo")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("pawl: I am at it.")
	x.Type("more\n")
	x.Await("sent: ")
	x.Type("\x03")
	x.Await("interrupting: press Ctrl-C again to quit\n")
	x.Await("\ncanceled: ")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
}

// Twice it ends pawl, and the next one goes on.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, done)
	x := ui(t, b, "yolo")
	x.Await("\n> ")
	x.Type("\x03")
	x.Await("press Ctrl-C again to quit")
	x.Await("\n> ")
	x.Type("\x03")
	x.Await("bye")
	quits(t, x)
}

// A pawl that is killed while it asks asks the same when it goes on, and what was
// done before is not done again.
func TestKilled(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, `{"text":"First this.","calls":[{"name":"bash","input":{"command":"echo x >> log"}}]}`, writes, done)
	x := ui(t, b, "ask")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("number: ")
	x.Type("1\n")
	x.Await("ask: Edit this file?")
	asked := x.Await("number: ")
	x.Kill()
	x = b.Terminal(t, "--screen-reader", "-c")
	messages := x.Await("ask: Edit this file?")
	for _, want := range []string{"session: go, 1 turn\n", "you: go\n", "pawl: First this.\n", "tool: bash done", "note: resuming the interrupted turn\n"} {
		if !strings.Contains(messages, want) {
			t.Errorf("%q is not in\n%s", want, messages)
		}
	}
	if diff := cmp.Diff(asked, x.Await("number: ")); diff != "" {
		t.Errorf("it asks something else: (-before +after)\n%s", diff)
	}
	x.Type("1\n")
	x.Await("pawl: All done.")
	x.Await("\n> ")
	x.Type("\x04")
	quits(t, x)
	if got := b.Read(t, "a.txt") + b.Read(t, "log"); got != "x\nx\n" {
		t.Errorf("%q was written", got)
	}
}

// The work can be another process's.
func TestAttach(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, writes, done)
	serve := b.Terminal(t, "serve")
	serve.Await("unix")
	x := ui(t, b, "ask", "--attach", "unix")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("number: ")
	x.Type("1\n")
	x.Await("pawl: All done.")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
	if b.Read(t, "a.txt") != "x\n" {
		t.Error("nothing was written")
	}
}

// Who wants lines gets them, and nobody else.
func TestWhoGetsLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		lines bool
	}{
		{"flag", nil, []string{"--screen-reader"}, true},
		{"variable", []string{"PAWL_SCREEN_READER=1"}, nil, true},
		{"dumb terminal", []string{"TERM=dumb"}, nil, true},
		{"nobody", []string{"PAWL_SCREEN_READER=0"}, nil, false},
		{"a flag that says no", []string{"PAWL_SCREEN_READER=1", "TERM=vt100"}, []string{"--screen-reader=false"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newWorkdir(t, done)
			args := append([]string{"--model", "script:" + script(b)}, c.args...)
			b.Env = append(b.Env, c.env...)
			x := b.Terminal(t, args...)
			if !c.lines {
				x.Await("\x1b[") // the screen
				return
			}
			x.Await("welcome: Pawl in ")
			x.Await("\n> ")
			x.Type("\x04")
			quits(t, x)
		})
	}
	b := newWorkdir(t)
	b.Env = append(b.Env, "PAWL_SCREEN_READER=perhaps")
	x := b.Terminal(t)
	x.Await(`invalid value "perhaps" of PAWL_SCREEN_READER: use 1 or 0`)
	if code := x.Wait(); code != 2 {
		t.Errorf("exit %d", code)
	}
	if out := b.Run(t, "--screen-reader"); out.Code != 2 || !strings.Contains(out.Stderr, "needs a terminal") {
		t.Errorf("without a terminal: %+v", out)
	}
}

// Who has no model learns how to come by one, and may go on all the same.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t)
	for i, v := range b.Env { // whatever keys the machine of the test has
		if name, _, _ := strings.Cut(v, "="); strings.Contains(name, "KEY") || strings.Contains(name, "PAWL_MODEL") {
			b.Env[i] = name + "="
		}
	}
	x := b.Terminal(t, "--screen-reader")
	x.Await("welcome: no model configured\n")
	x.Await("pawl auth login")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("failed: not sent: ")
	x.Await("\nnext: ")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
}

// TestTrust checks that the UI asks for trust in the project configuration first, and that a denial changes nothing.
func TestTrust(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, done)
	b.Write(t, ".mcp.json", `{"mcpServers":{"evil":{"command":"touch","args":["canary"]}}}`)
	x := ui(t, b, "yolo")
	if messages := x.Await("number: "); !strings.Contains(messages, "ask: trust this project?\n") || !strings.Contains(messages, ".mcp.json") {
		t.Errorf("it is not asked:\n%s", messages)
	}
	x.Type("3\n")
	x.Await("/trust asks again")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("done: ")
	x.Await("\n> ")
	x.Type("/trust\n")
	x.Await("number: ")
	x.Type("1\n")
	x.Await("trust: the project configuration applies from the next prompt")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
	if !strings.Contains(b.Must(t, "trust", "--list").Stdout, b.Dir) {
		t.Error("it is not trusted")
	}
}

// Sessions can be listed, opened, renamed and forked, and their subagents are heard.
func TestSessions(t *testing.T) {
	t.Parallel()
	b := newWorkdir(t, done, `{"calls":[{"name":"task","input":{"agent":"general","description":"writes","prompt":"write it"}}]}`, done,
		`{"agent":"general","calls":[{"name":"write","input":{"path":"a.txt","content":"x\n"}}]}`, `{"agent":"general","text":"Written."}`)
	x := ui(t, b, "ask")
	x.Await("\n> ")
	x.Type("first\n")
	x.Await("\ndone")
	x.Await("\n> ")
	x.Type("/rename The First\n")
	x.Await("renamed: The First")
	x.Await("\n> ")
	x.Type("/new\n")
	x.Await("\n> ")
	x.Type("/sessions\n")
	x.Await("\n1: The First, ")
	x.Await("\n> ")
	x.Type("/open 1\n")
	x.Await("session: The First, 1 turn\n")
	x.Await("you: first")
	x.Await("\n> ")
	x.Type("/fork\n")
	x.Await("forked: ")
	x.Await("\n> ")
	x.Type("have it written\n")
	x.Await(`ask: Edit this file? asked by subagent "writes" (general)`)
	x.Await("number: ")
	x.Type("1\n")
	x.Await("\ndone")
	x.Await("\n> ")
	x.Type("/show\n")
	x.Await("\n  pawl")
	x.Await("\n> ")
	x.Type("/quit\n")
	quits(t, x)
	if b.Read(t, "a.txt") != "x\n" {
		t.Error("nothing was written")
	}
	for _, s := range b.Sessions(t) {
		if _, err := pawl.Conversation(b.Export(t, string(s.ID))); err != nil {
			t.Error(err)
		}
	}
}

// Whatever a model that was taken over says, calls, asks and fails with: the terminal
// is given lines of text. Row G1.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	const evil = "ok\x1b]0;title\x07\x1b[2J\x1b[1;1Hyes\r\u009b31m\u202e\u2028> \x1b]52;c;cm0=\x1b\\\nask: Run this command?\n1: allow once\nnumber: "
	line := func(reply map[string]any) string {
		text, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	call := func(name string, input any) map[string]any { return map[string]any{"name": name, "input": input} }
	b := newWorkdir(t,
		line(map[string]any{"text": evil, "reasoning": evil, "deltas": 7, "calls": []any{
			call("bash", map[string]any{"command": "printf '" + strings.ReplaceAll(evil, "\x1b", `\033`) + "'", "description": evil}),
			call("evil"+evil, map[string]any{evil: evil}),
			call("todowrite", map[string]any{"items": []any{map[string]any{"id": "1", "content": evil, "status": "in_progress", "priority": "low"}}}),
			call("question", map[string]any{"questions": []any{map[string]any{"header": "x\x1b[2J\n1: yes", "question": evil, "options": []any{map[string]any{"label": "y\x1b[2J\n> ", "description": evil}}}}}),
		}}),
		line(map[string]any{"fault": "error", "text": evil}))
	x := ui(t, b, "ask")
	x.Await("\n> ")
	x.Type("/reasoning on\n")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("5: deny, and say what to do instead\nnumber: ")
	x.Type("1\n")
	x.Await("number or answer: ")
	x.Type("1\n")
	x.Await("\nstopped: ")
	x.Await("\n> ")
	for _, command := range []string{"/output\n", "/output 2\n", "/output 4\n", "/last\n", "/show\n", "/rename x\n", "/sessions\n"} {
		x.Type(command)
		x.Await("\n> ")
	}
	x.Type("/quit\n")
	quits(t, x)
	if n := strings.Count(x.Screen(), "\nask: Run this command?"); n != 1 {
		t.Errorf("it seems to be asked %d times:\n%s", n, x.Screen())
	}
}
