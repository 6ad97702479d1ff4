package lineui

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// recordedSessions returns the logs in the test data.
func recordedSessions(t *testing.T) map[string][]pawl.Event {
	t.Helper()
	logs := transcripttest.Recorded(t)
	for _, file := range []string{"../../../testdata/events.golden.jsonl", "../../agent/testdata/session.golden.jsonl"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e pawl.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			logs[file] = append(logs[file], e)
		}
	}
	return logs
}

// words returns a text without white space, indentation and case, as lines change these.
func words(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), ""))
}

// shownText returns what the output must have of an item.
func shownText(it transcript.Item) []string {
	switch it.Kind {
	case transcript.KindAsk: // the user is asked
		return nil
	case transcript.KindCall:
		texts := []string{it.Call.Tool}
		if it.Call.User {
			texts = nil
		}
		if it.State == transcript.StateWaiting {
			return nil
		}
		status := string(it.Call.Status)
		if it.Call.Status == pawl.CallDone && it.Call.Result.IsError {
			status = "failed"
		}
		return append(append(texts, it.Call.Targets...), status)
	case transcript.KindUser:
		if it.State == transcript.StateWaiting {
			return nil
		}
		return []string{it.Text}
	case transcript.KindTodos:
		return []string{"todo:"}
	case transcript.KindSubagent:
		return []string{it.Subagent.Agent, it.Text}
	case transcript.KindText, transcript.KindReasoning, transcript.KindNote, transcript.KindMission, transcript.KindTurnEnd:
		return []string{it.Text, it.Next}
	}
	return []string{"unknown kind"}
}

// checkItems checks that the renderer has the items of the events, and has printed them.
func checkItems(t rapid.TB, events []pawl.Event) {
	t.Helper()
	var out bytes.Buffer
	u := newUI(Config{Out: &out})
	u.reasoning = true
	want := transcript.New()
	for _, e := range events {
		u.renderer.Apply(e)
		want.Apply(e)
	}
	for _, s := range u.renderer.texts {
		s.end() // print the sentences that have not ended
	}
	if diff := cmp.Diff(want.Items(), u.renderer.items.Items()); diff != "" {
		t.Fatalf("items: (-want +got)\n%s", diff)
	}
	got := words(out.String())
	for _, it := range want.Items() {
		for _, text := range shownText(it) {
			if !strings.Contains(got, words(text)) {
				t.Fatalf("%q of %s is not in\n%s", text, it.ID, out.String())
			}
		}
	}
}

// TestRecordedItems checks that recorded sessions are printed completely.
func TestRecordedItems(t *testing.T) {
	t.Parallel()
	for name, events := range recordedSessions(t) {
		t.Run(name, func(t *testing.T) { checkItems(t, events) })
	}
}

// TestRandomItems checks that random sessions are printed completely, with missions, undos and redos, and texts that
// are streamed with gaps.
func TestRandomItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkItems(t, transcripttest.Log(t)) })
}

// TestSplitText checks that a reply that is streamed as one text and becomes several is printed once.
func TestSplitText(t *testing.T) {
	t.Parallel()
	parts := pawl.Parts{pawl.Text{Text: "One. Two"}, pawl.Text{Text: "\n"}, pawl.Text{Text: "Three. Four."}}
	for _, test := range []struct{ streamed, want string }{
		{"", "pawl: One. Two\npawl: Three. Four.\n"},
		{"One.", "pawl: One. Two\npawl: Three. Four.\n"},
		{"One. Two\nThr", "pawl: One. Two\n  Three. Four.\n"},
		{"One. Two\nThree. Four.", "pawl: One. Two\n  Three. Four.\n"},
	} {
		var out bytes.Buffer
		u := newUI(Config{Out: &out})
		u.renderer.Apply(pawl.Event{Seq: 1, Body: pawl.ReplyStarted{}})
		for i := range test.streamed {
			u.renderer.Apply(pawl.Event{Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: i, Text: test.streamed[i : i+1]}})
		}
		u.renderer.Apply(pawl.Event{Seq: 2, Body: pawl.Replied{Parts: parts}})
		u.out.endLine()
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", test.streamed, diff)
		}
	}
}

// TestUndoPrints checks that an undo and a redo print a note, and no item again.
func TestUndoPrints(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	u := newUI(Config{Out: &out})
	for i, b := range []pawl.Body{
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}}, pawl.TurnStarted{Prompt: 1},
		pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "Hello."}, pawl.ToolCall{ID: "c", Name: "bash"}}}, pawl.CallStarted{Call: "c", Tool: "bash"},
		pawl.CallFinished{Call: "c", Status: pawl.CallDone}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
		pawl.UndoAsked{Undo: pawl.Undo{To: 2, Scope: pawl.ScopeBoth}}, pawl.Undone{Asked: 7, Changed: []string{"a.go"}},
		pawl.UndoAsked{Undo: pawl.Undo{Redo: 8}}, pawl.Undone{Asked: 9},
	} {
		u.renderer.Apply(pawl.Event{Seq: pawl.Seq(i + 1), At: time.Unix(9, 0), Body: b})
	}
	want := "you: go\npawl: Hello.\ntool: bash\ntool: bash done, no output\ndone: 1 tool call, 0 seconds\nnote: Undone, 1 file restored: a.go\nnote: Redone\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestOpenPrints checks that a session that is opened is printed like one that was followed.
func TestOpenPrints(t *testing.T) {
	t.Parallel()
	bodies := []pawl.Body{
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}}, pawl.TurnStarted{Prompt: 1},
		pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: "Hm."}, pawl.Text{Text: "Hello."}, pawl.ToolCall{ID: "c", Name: "bash"}, pawl.ToolCall{ID: "d", Name: "edit"}}},
		pawl.CallStarted{Call: "c", Tool: "bash", Access: []pawl.Access{{Target: "make"}}}, pawl.CallFinished{Call: "c", Status: pawl.CallDone},
		pawl.CallFinished{Call: "d", Status: pawl.CallDenied, Result: pawl.Result{Content: "no"}}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
		pawl.ShellAsked{Command: "make"}, pawl.ShellStarted{Asked: 8}, pawl.ShellRan{Asked: 8, Status: pawl.CallDone, Result: pawl.Result{Content: "ok"}},
	}
	var events []pawl.Event
	for i, b := range bodies {
		events = append(events, pawl.Event{Seq: pawl.Seq(i + 1), At: time.Unix(int64(i), 0), Body: b})
	}
	var followed, opened bytes.Buffer
	u := newUI(Config{Out: &followed})
	for _, e := range events {
		u.renderer.Apply(e)
	}
	newUI(Config{Out: &opened}).renderer.open(events)
	if diff := cmp.Diff(followed.String(), opened.String()); diff != "" || !strings.Contains(opened.String(), "tool: bash: make\ntool: bash done") {
		t.Errorf("(-followed +opened)\n%s", diff)
	}
}

// TestLongNote checks that a note is printed whole: its end may say where something is saved.
func TestLongNote(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	u := newUI(Config{Out: &out})
	u.renderer.Apply(pawl.Event{Body: pawl.Status{Message: strings.Repeat("a long reason, ", 100) + "saved in TODO.rejected.md"}})
	if !strings.Contains(out.String(), "saved in TODO.rejected.md") {
		t.Errorf("printed was %q", out.String())
	}
}
