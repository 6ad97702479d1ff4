//go:build e2e

package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// newWorkdir returns a working directory and a model that replies with the lines of script.
func newWorkdir(t testing.TB, script ...string) (b *harness.Workdir, model string) {
	t.Helper()
	b = harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	file := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(script, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b, "script:" + file
}

// replied is the text of a session's replies, by its log.
func replied(t testing.TB, b *harness.Workdir, id sdk.SessionId) string {
	t.Helper()
	var text strings.Builder
	for _, e := range b.Export(t, string(id)) {
		if r, ok := e.Body.(pawl.Replied); ok {
			text.WriteString(r.Parts.Text())
		}
	}
	return text.String()
}

// TestStreamIsTheReply: what an editor is shown while a reply grows is the reply,
// no piece twice and none missing.
func TestStreamIsTheReply(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Grüße, 世界! ", 400)
	b, model := newWorkdir(t,
		`{"reasoning":"Let me see. 思考","text":"`+long+`","deltas":300,"delay_ms":1,"calls":[{"name":"list"}]}`,
		`{"text":"Done.","deltas":3}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" {
		t.Fatalf("it ended with %q", stop)
	}
	if diff := cmp.Diff(replied(t, b, id), e.text(id)); diff != "" {
		t.Errorf("replied and shown:\n%s", diff)
	}
	if got := e.text(id); got != long+"Done." {
		t.Errorf("shown %d bytes, want %d", len(got), len(long)+5)
	}
	if got := e.thoughts(id); !strings.HasPrefix(got, "Let me see. 思考pawl: ") {
		t.Errorf("thought %q", got)
	}
}

// TestCalls: a call is announced, runs and ends, with its place, its change and
// its output; the editor shows the change as before and after.
func TestCalls(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"write","input":{"path":"new.txt","content":"one\ntwo\n"}},{"name":"edit","input":{"path":"old.txt","old":"b","new":"B"}},{"name":"bash","input":{"command":"echo out; exit 3"}},{"name":"read","input":{"path":"none.txt"}}]}`,
		`{"text":"Done."}`)
	b.Write(t, "old.txt", "a\nb\nc\n")
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("go"))
	want := `call: call_1_1 edit write new.txt
call: call_1_2 edit edit old.txt
call: call_1_3 execute echo out; exit 3
call: call_1_4 read read none.txt
call: call_1_1 in_progress
call: call_1_1 completed
call: call_1_2 in_progress
call: call_1_2 completed
call: call_1_3 in_progress
call: call_1_3 failed
call: call_1_4 in_progress
call: call_1_4 failed
agent: Done.`
	if diff := cmp.Diff(want, e.transcript(id)); diff != "" {
		t.Errorf("shown (-want):\n%s", diff)
	}
	created := last(e.contents(id, "call_1_1"))
	if diff := cmp.Diff([]sdk.ToolCallContent{{Diff: &sdk.ToolCallContentDiff{Type: "diff", Path: filepath.Join(b.Dir, "new.txt"), NewText: "one\ntwo\n"}}}, created); diff != "" {
		t.Errorf("write:\n%s", diff)
	}
	changed := last(e.contents(id, "call_1_2"))
	if diff := cmp.Diff([]sdk.ToolCallContent{sdk.ToolDiffContent(filepath.Join(b.Dir, "old.txt"), "a\nB\nc\n", "a\nb\nc\n")}, changed); diff != "" {
		t.Errorf("edit:\n%s", diff)
	}
	if out := last(e.contents(id, "call_1_3")); len(out) != 1 || !strings.HasPrefix(textOf(out[0].Content.Content), "```\nout\n") {
		t.Errorf("bash: %+v", out)
	}
	for _, u := range e.updates(id) {
		if u.ToolCall != nil && u.ToolCall.ToolCallId == "call_1_2" {
			if diff := cmp.Diff([]sdk.ToolCallLocation{{Path: filepath.Join(b.Dir, "old.txt")}}, u.ToolCall.Locations); diff != "" {
				t.Errorf("places:\n%s", diff)
			}
		}
	}
}

func last(list [][]sdk.ToolCallContent) []sdk.ToolCallContent {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// TestProgress: the output of a command is shown while it runs.
func TestProgress(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"bash","input":{"command":"echo early; until [ -e go ]; do sleep 0.05; done; echo late"}}]}`,
		`{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.session(b.Dir)
	ended := make(chan string, 1)
	go func() { ended <- e.prompt(id, sdk.TextBlock("go")) }()
	e.await("the early output", func() bool {
		out := last(e.contents(id, "call_1_1"))
		return len(out) == 1 && strings.Contains(textOf(out[0].Content.Content), "early")
	})
	b.Write(t, "go", "")
	if stop := <-ended; stop != "end_turn" {
		t.Errorf("it ended with %q", stop)
	}
	if out := last(e.contents(id, "call_1_1")); !strings.Contains(textOf(out[0].Content.Content), "early\nlate\n") {
		t.Errorf("in the end: %+v", out)
	}
}

// TestPlan: the model's list is shown as a plan.
func TestPlan(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"todowrite","input":{"items":[{"content":"look","status":"completed","priority":"high"},{"content":"fix","status":"in_progress"},{"content":"dance","status":"canceled"}]}}]}`,
		`{"text":"Done."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("go"))
	want := `plan: [{"content":"look","priority":"high","status":"completed"},{"content":"fix","priority":"medium","status":"in_progress"}]`
	if !strings.Contains(e.transcript(id), want) {
		t.Errorf("no plan in:\n%s", e.transcript(id))
	}
}

// TestKeysAreMasked: a key that pawl holds is shown to nobody, though the model
// writes it in pieces.
func TestKeysAreMasked(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-" + "api03-Zq7Xw2Lk9PbVn4Rt6Ym1"
	b, model := newWorkdir(t, `{"text":"before `+key+` after `+strings.Repeat("more ", 20)+`","deltas":60,"fault":"hang"}`)
	b.Env = append(b.Env, "ANTHROPIC_API_KEY="+key)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	ended := e.background(id, "go")
	e.await("the first half", func() bool { return strings.Contains(e.text(id), "before ") && strings.Contains(e.text(id), "after") })
	if err := e.conn.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := e.text(id); strings.Contains(got, key[:12]) || got != replied(t, b, id) {
		t.Errorf("shown %q, and the log has %q", got, replied(t, b, id))
	}
}

// TestOtherProcess: what a terminal does in the session is shown, its prompt too; the
// own prompts of the editor are not shown to it again.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"One."}`, `{"text":"Two."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("one"))
	b.Must(t, "run", "-s", string(id), "--model", model, "from a terminal")
	e.await("what the other did", func() bool { return strings.HasSuffix(e.transcript(id), "agent: Two.") })
	if want := "agent: One.\nuser: from a terminal\nagent: Two."; e.transcript(id) != want {
		t.Errorf("shown:\n%s", e.transcript(id))
	}
}
