package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// reply is a stream of these chunks that ends well.
func stream(finish pawl.Finish, list ...model.Chunk) []model.Chunk {
	return append(list, model.Chunk{Kind: model.ChunkFinish, Finish: finish})
}

func think(text, signature string) model.Chunk {
	return model.Chunk{Kind: model.ChunkReasoning, Text: text, Signature: signature}
}
func say(text string) model.Chunk { return model.Chunk{Kind: model.ChunkText, Text: text} }
func ask(id pawl.CallID, input string) model.Chunk {
	return model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: id, Name: "look", Input: json.RawMessage(input), Signature: "sig"}}
}
func usage(u pawl.Usage) model.Chunk { return model.Chunk{Kind: model.ChunkUsage, Usage: u} }

func TestReplies(t *testing.T) {
	t.Parallel()
	call := func(id pawl.CallID, input string) pawl.ToolCall {
		return pawl.ToolCall{ID: id, Name: "look", Input: json.RawMessage(input), Signature: "sig"}
	}
	tests := []struct {
		name   string
		stream []model.Chunk
		want   pawl.Replied
	}{
		{
			"pieces are joined", stream(pawl.FinishEndTurn, say("a"), say(""), say("b")),
			pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "ab"}}, Finish: pawl.FinishEndTurn},
		},
		{
			"parts keep their order and signatures",
			stream(pawl.FinishEndTurn, think("a", ""), think("b", "S1"), think("c", "S2"), say("x"), think("d", ""), say("y"), think("", "S3")),
			pawl.Replied{Parts: pawl.Parts{
				pawl.Reasoning{Text: "ab", Signature: "S1"}, pawl.Reasoning{Text: "c", Signature: "S2"}, pawl.Text{Text: "x"},
				pawl.Reasoning{Text: "d"}, pawl.Text{Text: "y"}, pawl.Reasoning{Signature: "S3"},
			}, Finish: pawl.FinishEndTurn},
		},
		{
			"the last usage counts", stream(pawl.FinishEndTurn, say("a"), usage(pawl.Usage{Input: 1}), usage(pawl.Usage{Input: 5, Output: 2})),
			pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Input: 5, Output: 2}},
		},
		{
			"calls, though the provider says end_turn", stream(pawl.FinishEndTurn, ask("a", "{}")),
			pawl.Replied{Parts: pawl.Parts{call("a", "{}")}, Finish: pawl.FinishToolUse},
		},
		{
			"tool_use, though there is no call", stream(pawl.FinishToolUse, say("a")),
			pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn},
		},
		{
			"ids are made unique", stream(pawl.FinishToolUse, ask("a", "{}"), ask("a", "{}"), ask("", "{}"), ask("", "{}"), ask("b", "{}")),
			pawl.Replied{Parts: pawl.Parts{
				call("a", "{}"), call("a_4_2", "{}"), call("_4_3", "{}"), call("_4_4", "{}"), call("b", "{}"),
			}, Finish: pawl.FinishToolUse},
		},
		{
			"an id that looks like a made one", stream(pawl.FinishToolUse, ask("a_4_3", "{}"), ask("a", "{}"), ask("a", "{}")),
			pawl.Replied{Parts: pawl.Parts{call("a_4_3", "{}"), call("a", "{}"), call("a_4_4", "{}")}, Finish: pawl.FinishToolUse},
		},
		{
			"input that is not JSON", stream(pawl.FinishToolUse, ask("a", ""), ask("b", `{"x`), ask("c", `{} {}`), ask("d", "\xff")),
			pawl.Replied{Parts: pawl.Parts{
				call("a", `""`), call("b", `"{\"x"`), call("c", `"{} {}"`), call("d", `"\ufffd"`),
			}, Finish: pawl.FinishToolUse},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, setup{
				model: chunks{test.stream, stream(pawl.FinishEndTurn, say("end"))},
				tools: []toolapi.Tool{toolText("look", pawl.AccessRead, "x")},
			})
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			test.want.Step, test.want.Model, test.want.Agent = 1, modelRef, Default
			check[pawl.Body](t, test.want, w.bodies(pawl.Replied{})[0])
			w.checkCalls()
		})
	}
}

// An id is unique in the whole session, whatever the provider counts.
func TestCallIDsAreUniqueInTheSession(t *testing.T) {
	t.Parallel()
	again := stream(pawl.FinishToolUse, ask("a", "{}"))
	end := stream(pawl.FinishEndTurn, say("end"))
	w := newEnv(t, setup{model: chunks{again, again, end, again, end}, tools: []toolapi.Tool{toolText("look", pawl.AccessRead, "x")}})
	w.prompt("one")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("two")
	w.mustTurn(pawl.ReasonEndTurn)
	var ids []pawl.CallID
	for _, f := range w.results() {
		ids = append(ids, f.Call)
	}
	check(t, []pawl.CallID{"a", "a_8_1", "a_17_1"}, ids)
	w.checkCalls()
}

// TestTruncatedResult checks that a result that is too large for the log is stored as a blob, which the model can read.
func TestTruncatedResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\n", 10_000)
	wide := "x" + strings.Repeat("日", 20_000) // cut in mid-rune at both ends
	tests := []struct {
		name, content string
		truncated     bool
	}{
		{"nothing", "", false},
		{"at the limit", long[:tool.ResultBytes], false},
		{"over the limit", long[:tool.ResultBytes+1], true},
		{"far over the limit", long, true},
		{"cut in mid-rune", wide, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, setup{tools: []toolapi.Tool{toolText("talk", pawl.AccessRead, test.content)}, script: []string{
				`{"calls":[{"name":"talk"}]}`, `{"text":"Ok."}`,
			}})
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			got := w.results()[0].Result
			if !test.truncated {
				check(t, pawl.Result{Content: test.content}, got)
				return
			}
			if got.Full == nil || got.Full.Size != int64(len(test.content)) {
				t.Fatalf("spill: %+v", got.Full)
			}
			head, rest, _ := strings.Cut(got.Content, "\n… ")
			note, tail, _ := strings.Cut(rest, " …\n")
			left := len(test.content) - len(head) - len(tail)
			check(t, fmt.Sprintf("%d bytes left out: read blob:%s to see all", left, got.Full.ID), note)
			if !strings.HasPrefix(test.content, head) || !strings.HasSuffix(test.content, tail) || !utf8.ValidString(got.Content) {
				t.Error("head and tail are not those of the content")
			}
			if n := len(head) + len(tail); n > tool.ResultBytes || n < tool.ResultBytes-8 {
				t.Errorf("%d bytes are left", n)
			}
			read, err := tool.Read(w.Store).Run(t.Context(), toolapi.Call{
				Session: session, Input: json.RawMessage(`{"path":"blob:` + got.Full.ID + `","limit":1}`),
			})
			if err != nil || !strings.Contains(read.Content, "\n     1\t"+test.content[:5]) {
				t.Errorf("the blob reads %.90q, %v", read.Content, err)
			}
		})
	}
}

// TestReadIsNotTruncated checks that results of read are never truncated: the model could not get the middle of a page
// in another way.
func TestReadIsNotTruncated(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{
		`{"calls":[{"name":"bash","input":{"command":"seq 100000"}}]}`,
		`{"calls":[{"name":"bash","input":{"command":"seq -f %030.0f 100000 > numbers"}},{"name":"read","input":{"path":"numbers"}}]}`,
		`{"text":"Ok."}`,
	}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	results := w.results()
	if results[0].Result.Full == nil {
		t.Error("588 KB of output were not spilled")
	}
	page := results[2].Result
	if page.Full != nil || len(page.Content) <= tool.ResultBytes || strings.Contains(page.Content, "left out") {
		t.Errorf("a page of %d bytes was cut, or is none: …%q", len(page.Content), page.Content[len(page.Content)-60:])
	}
}

// TestPanicIsTruncated checks that a long panic message is truncated like any other result.
func TestPanicIsTruncated(t *testing.T) {
	t.Parallel()
	loud := newTool("loud", pawl.AccessRead, func(context.Context, toolapi.Call) (pawl.Result, error) {
		panic(strings.Repeat("oh no ", 10_000))
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{loud}, script: []string{`{"calls":[{"name":"loud"}]}`, `{"text":"Ok."}`}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	if got := w.results()[0].Result; got.Full == nil || !got.IsError || len(got.Content) > tool.ResultBytes+200 {
		t.Errorf("%d bytes, spill %v", len(got.Content), got.Full)
	}
}

// What a model has to say to the person who waits is reported, and is no part of the reply.
func TestNoticeOfAModel(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{model: chunks{stream(pawl.FinishEndTurn, say("Do"), model.Chunk{Kind: model.ChunkNotice, Text: "waiting for a turn"}, say("ne."))}})
	w.checkNotice("waiting for a turn")
	replies := w.bodies(pawl.Replied{})
	if len(replies) != 1 || replies[0].(pawl.Replied).Parts.Text() != "Done." {
		t.Errorf("the replies are %+v", replies)
	}
}
