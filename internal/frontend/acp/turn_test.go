//go:build e2e

package acp_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// background prompts and hands over how it ended.
func (e *editor) background(id sdk.SessionId, text string) <-chan string {
	ended := make(chan string, 1)
	go func() { ended <- e.prompt(id, sdk.TextBlock(text)) }()
	return ended
}

// TestCancel: a reply that is being written can be canceled; the result so far of it
// was shown and is kept, and the session goes on.
func TestCancel(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"one two three four","deltas":4,"fault":"hang"}`, `{"text":"Again."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	ended := e.background(id, "go")
	e.await("the first half", func() bool { return e.text(id) == "one two t" })
	if err := e.conn.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := <-ended; stop != string(sdk.StopReasonCancelled) {
		t.Errorf("it ended with %q", stop)
	}
	if diff := cmp.Diff(replied(t, b, id), e.text(id)); diff != "" {
		t.Errorf("replied and shown:\n%s", diff)
	}
	if stop := e.prompt(id, sdk.TextBlock("again")); stop != "end_turn" {
		t.Errorf("then it ended with %q", stop)
	}
}

// TestCancelRightBehind: a cancel that stands right behind its prompt is meant for
// it, however fast the two are worked on.
func TestCancelRightBehind(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"never","fault":"hang"}`)
	e := start(t, b, "--model", model)
	for range 5 {
		id := string(e.session(b.Dir))
		before := e.written()
		prompt := `{"jsonrpc":"2.0","id":"p` + id + `","method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"text","text":"go"}]}}`
		cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + id + `"}}`
		if _, err := e.in.Write([]byte(prompt + "\n" + cancel + "\n")); err != nil {
			t.Fatal(err)
		}
		e.await("the end of the turn", func() bool {
			_, after, _ := strings.Cut(e.written(), before)
			return strings.Contains(after, `"id":"p`+id+`","result":{"stopReason":"`+string(sdk.StopReasonCancelled)+`"}`)
		})
	}
}

// TestCancelWhileAsked: an editor that cancels answers what it was asked with
// canceled; the turn was canceled, not denied.
func TestCancelWhileAsked(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"calls":[{"name":"write","input":{"path":"a.txt","content":"1"}}]}`, `{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	id := e.session(b.Dir)
	e.decide = func(sdk.RequestPermissionRequest) sdk.PermissionOptionId {
		if err := e.conn.Cancel(context.Background(), sdk.CancelNotification{SessionId: id}); err != nil {
			t.Error(err)
		}
		return ""
	}
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != string(sdk.StopReasonCancelled) {
		t.Errorf("it ended with %q", stop)
	}
	for _, ev := range b.Export(t, string(id)) {
		if a, ok := ev.Body.(pawl.Answered); ok && a.Outcome != pawl.OutcomeCanceled {
			t.Errorf("the log says %q", a.Outcome)
		}
	}
}

// TestTwoSessions: two sessions work at once, and each is shown its own.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.05; done"}}]}`,
		`{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	first, second := e.session(b.Dir), e.session(b.Dir)
	a, c := e.background(first, "first"), e.background(second, "second")
	for _, id := range []sdk.SessionId{first, second} {
		e.await("both at work", func() bool { return strings.Contains(e.transcript(id), "call_1_1 in_progress") })
	}
	b.Write(t, "go", "")
	if x, y := <-a, <-c; x != "end_turn" || y != "end_turn" {
		t.Errorf("they ended with %q, %q", x, y)
	}
	for _, id := range []sdk.SessionId{first, second} {
		if got := e.text(id); got != "Done." {
			t.Errorf("%s was shown %q", id, got)
		}
	}
}

// TestPromptBehindAnother: a second prompt is worked on after the first, and both
// are answered.
func TestPromptBehindAnother(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.05; done"}}]}`,
		`{"text":"First."}`, `{"expect":"second","text":"Second."}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.session(b.Dir)
	first := e.background(id, "first")
	e.await("the first at work", func() bool { return strings.Contains(e.transcript(id), "in_progress") })
	second := e.background(id, "second")
	for over := time.Now().Add(patience); b.Sessions(t)[0].Queued != 1; {
		if time.Now().After(over) {
			t.Fatal("the second prompt is not in the log")
		}
	}
	b.Write(t, "go", "")
	if x, y := <-first, <-second; x != "end_turn" || y != "end_turn" {
		t.Errorf("they ended with %q, %q", x, y)
	}
	if got := e.text(id); got != "First.Second." {
		t.Errorf("shown %q", got)
	}
}

// TestEnds: why a turn ended, in the protocol's words; a failure says what to do.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, flag, stop string
	}{
		{"done", `{"text":"Done."}`, "", "end_turn"},
		{"tokens", `{"text":"Done","finish":"max_tokens"}`, "", "max_tokens"},
		{"steps", `{"calls":[{"name":"list"}]}`, "--max-steps=1", "max_turn_requests"},
		{"failed", `{"text":"no money","fault":"error"}`, "", "the model failed: "},
		{"misfit", `{"expect":"something else","text":"x"}`, "", "send a prompt to continue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, model := newWorkdir(t, c.script, `{"text":"Wrapped up."}`)
			args := []string{"--model", model}
			if c.flag != "" {
				args = append(args, c.flag)
			}
			e := start(t, b, args...)
			if stop := e.prompt(e.session(b.Dir), sdk.TextBlock("go")); !strings.Contains(stop, c.stop) {
				t.Errorf("it ended with %q, want %q", stop, c.stop)
			}
		})
	}
}

// TestLoadAfterKill: a session whose program was killed is loaded whole by another,
// and its turn goes on.
func TestLoadAfterKill(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"reasoning":"Hm.","text":"Look:","calls":[{"name":"write","input":{"path":"a.txt","content":"x\n"}}]}`,
		`{"text":"First done."}`,
		`{"text":"half of it and the other half","deltas":2,"fault":"hang"}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.session(b.Dir)
	if stop := e.prompt(id, sdk.TextBlock("first")); stop != "end_turn" {
		t.Fatalf("it ended with %q", stop)
	}
	e.background(id, "second")
	e.await("the half", func() bool { return strings.HasSuffix(e.text(id), "half of it and") })
	if err := e.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = e.cmd.Wait()

	rewrite(t, model, `{"text":"Look:","calls":[{"name":"list"}]}`, `{"text":"First done."}`, `{"text":"All of it."}`, `{"text":"Third."}`)
	again := start(t, b, "--mode", "yolo")
	if _, err := again.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: b.Dir, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	again.await("the open turn", func() bool { return strings.HasSuffix(again.text(id), "All of it.") })
	want := `user: first
thought: Hm.
agent: Look:
call: call_1_1 edit write a.txt
call: call_1_1 completed
agent: First done.
user: second
agent: All of it.`
	if diff := cmp.Diff(want, again.transcript(id)); diff != "" {
		t.Errorf("shown (-want):\n%s", diff)
	}
	if diff := cmp.Diff(e.contents(id, "call_1_1"), again.contents(id, "call_1_1")); diff != "" {
		t.Errorf("the change, then and now:\n%s", diff)
	}
	if stop := again.prompt(id, sdk.TextBlock("third")); stop != "end_turn" || !strings.HasSuffix(again.text(id), "Third.") {
		t.Errorf("then it ended with %q:\n%s", stop, again.transcript(id))
	}
}

// TestLoadAsks: what was asked when the program was killed is asked again, and the
// answer counts.
func TestLoadAsks(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"calls":[{"name":"write","input":{"path":"a.txt","content":"x"}}]}`, `{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	hold := make(chan struct{})
	defer close(hold)
	e.decide = func(sdk.RequestPermissionRequest) sdk.PermissionOptionId { <-hold; return "" }
	id := e.session(b.Dir)
	e.background(id, "go")
	e.await("the question", func() bool { return len(e.requests()) == 1 })
	if err := e.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = e.cmd.Wait()

	again := start(t, b)
	again.decide = choose(t, "Allow once")
	r, err := again.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: b.Dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Modes.CurrentModeId != "ask" {
		t.Errorf("the mode is %q", r.Modes.CurrentModeId)
	}
	again.await("the end", func() bool { return again.text(id) == "Done." })
	if got := b.Read(t, "a.txt"); got != "x" {
		t.Errorf("a.txt is %q", got)
	}
}

// TestEditorGoesAway: when the editor closes the pipe, the program ends by itself
// and the turn can be resumed.
func TestEditorGoesAway(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"one two","deltas":2,"fault":"hang"}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	e.background(id, "go")
	e.await("the half", func() bool { return e.text(id) == "one" || e.text(id) == "one " })
	if err := e.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got := b.Sessions(t)[0].State(); got != pawl.StateRunning {
		t.Errorf("the session is %s", got)
	}
	rewrite(t, model, `{"text":"Resumed."}`)
	if out := b.Must(t, "resume"); out.Stdout != "Resumed.\n" {
		t.Errorf("resume printed %q", out.Stdout)
	}
}

// TestLoadWithoutUndone: what a person has undone is not reported.
func TestLoadWithoutUndone(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"One."}`, `{"text":"Two."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("one"))
	e.prompt(id, sdk.TextBlock("two"))
	b.Must(t, "session", "undo", "--yes", string(id))
	e.await("the word of it", func() bool { return strings.Contains(e.thoughts(id), "Load the session again") })
	again := start(t, b)
	if _, err := again.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: b.Dir, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if want := "user: one\nagent: One.\nthought: pawl: Undone\n\n"; again.transcript(id) != want {
		t.Errorf("shown:\n%s", again.transcript(id))
	}
}

// TestEditorThatDoesNotRead: a program whose words nobody takes can be ended, and
// its turn can be resumed.
func TestEditorThatDoesNotRead(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"`+strings.Repeat("many words ", 100_000)+`","calls":[{"name":"bash","input":{"command":"touch here; sleep 600"}}]}`)
	cmd := b.Command("acp", "--model", model, "--mode", "yolo")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", b.Dir)
	answer, err := bufio.NewReader(out).ReadString('\n')
	_, rest, ok := strings.Cut(answer, `"sessionId":"`)
	if err != nil || !ok {
		t.Fatalf("session/new: %q, %v", answer, err)
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", rest[:26])
	for over := time.Now().Add(patience); !exists(filepath.Join(b.Dir, "here")); {
		if time.Now().After(over) {
			t.Fatal("the work does not go on while nobody reads")
		}
		runtime.Gosched()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Error(err)
	}
	if got := b.Sessions(t)[0].State(); got != pawl.StateRunning {
		t.Errorf("the session is %s", got)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
