package responses

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

const (
	created   = `{"type":"response.created","response":{"status":"in_progress","usage":null,"error":null,"incomplete_details":null}}`
	completed = `{"type":"response.completed","response":{"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}}`
	hi        = `{"type":"response.output_text.delta","output_index":0,"delta":"hi"}`
)

// stream writes events as they come on the wire.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

func text(s string) model.Chunk   { return model.Chunk{Kind: model.ChunkText, Text: s} }
func thinks(s string) model.Chunk { return model.Chunk{Kind: model.ChunkReasoning, Text: s} }
func seals(js string) model.Chunk {
	return model.Chunk{Kind: model.ChunkReasoning, Signature: protocol.Seal(name, js)}
}
func calls(id pawl.CallID, name, input string) model.Chunk {
	return model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: id, Name: name, Input: []byte(input)}}
}

// ends is the end of a reply that completed was sent for.
func ends(f pawl.Finish) []model.Chunk {
	return []model.Chunk{
		{Kind: model.ChunkUsage, Usage: pawl.Usage{Input: 3, CacheRead: 4, CacheWrite: 3, Output: 5, Reasoning: 2}},
		{Kind: model.ChunkFinish, Finish: f},
	}
}

func summary(item, part, delta string) string {
	return `{"type":"response.reasoning_summary_text.delta","output_index":` + item + `,"summary_index":` + part + `,"delta":"` + delta + `"}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `}`
}

const (
	callA    = `{"type":"function_call","id":"fc_a","status":"completed","call_id":"a","name":"read","arguments":"{\"p\":1}"}`
	callB    = `{"type":"function_call","id":"fc_b","status":"completed","call_id":"b","name":"list","arguments":""}`
	thought1 = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"x<y"}],"encrypted_content":"E1"}`
)

func TestStream(t *testing.T) {
	t.Parallel()
	incomplete := `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":2}}}`
	cutEnd := []model.Chunk{{Kind: model.ChunkUsage, Usage: pawl.Usage{Input: 1, Output: 2}}, {Kind: model.ChunkFinish, Finish: pawl.FinishMaxTokens}}
	tests := []struct {
		name   string
		stream string
		want   []model.Chunk
	}{
		{"text", stream(created, hi, completed), append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"nothing after the end counts", stream(hi, completed, hi, completed, "[DONE]"), append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"no blank line at the end", strings.TrimSpace(stream(hi, completed)) + "\n", append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"CR LF, comments, event names", ": ping\r\nevent: x\r\ndata: " + hi + "\r\n\r\n: ping\r\n\r\ndata: " + completed + "\r\n\r\n", append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"unknown events and fields", stream(
			`{"type":"response.mcp_call_arguments.delta","delta":{"a":1}}`, `{"type":"keepalive","sequence_number":3}`, `{}`,
			added("0", `{"type":"web_search_call","action":{"type":"search"}}`), done("0", `{"type":"web_search_call","status":"completed"}`),
			hi, `{"type":"response.output_text.annotation.added","annotation":{}}`, completed), append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"empty deltas", stream(`{"type":"response.output_text.delta","delta":""}`, summary("0", "0", ""), hi, completed), append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"no usage", stream(hi, `{"type":"response.completed","response":{"usage":null}}`), []model.Chunk{text("hi"), {Kind: model.ChunkUsage}, {Kind: model.ChunkFinish, Finish: pawl.FinishEndTurn}}},
		{"a call", stream(added("0", `{"type":"function_call","call_id":"a","name":"read","arguments":""}`),
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"p\""}`,
			`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"p\":1}"}`, done("0", callA), completed), append([]model.Chunk{calls("a", "read", `{"p":1}`)}, ends(pawl.FinishToolUse)...)},
		{"calls out of order and entwined", stream(added("2", callB), added("1", callA),
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"p\":"}`,
			`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{}"}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"1}"}`,
			done("2", callB), done("1", callA), completed), append([]model.Chunk{calls("b", "list", `{}`), calls("a", "read", `{"p":1}`)}, ends(pawl.FinishToolUse)...)},
		{"a call of which only the end came", stream(done("0", callA), completed), append([]model.Chunk{calls("a", "read", `{"p":1}`)}, ends(pawl.FinishToolUse)...)},
		{"garbled arguments", stream(done("0", `{"type":"function_call","call_id":"a","name":"read","arguments":"{\"p"}`), completed), append([]model.Chunk{calls("a", "read", `{"p`)}, ends(pawl.FinishToolUse)...)},
		{"a sealed thought", stream(added("0", `{"type":"reasoning","id":"rs_1","encrypted_content":"E0","summary":[]}`), summary("0", "0", "x"), summary("0", "0", "<y"),
			done("0", thought1), done("1", callA), completed), append([]model.Chunk{thinks("x"), thinks("<y"), seals(thought1), calls("a", "read", `{"p":1}`)}, ends(pawl.FinishToolUse)...)},
		{"a thought that is not shown", stream(done("0", `{"type":"reasoning","id":"rs_2","encrypted_content":"E2"}`), hi, completed), append([]model.Chunk{
			seals(`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"E2"}`), text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"a thought that is not sealed", stream(done("0", `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":null}`), hi, completed), append([]model.Chunk{text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"thoughts apart", stream(summary("0", "0", "a"), summary("0", "1", "b"), summary("0", "1", "c"), done("0", `{"type":"reasoning"}`), summary("1", "0", "d"),
			done("1", thought1), summary("2", "0", "e"), hi, summary("3", "0", "f"), hi, completed), append([]model.Chunk{
			thinks("a"), thinks("\n\nb"), thinks("c"), thinks("\n\nd"), seals(thought1), thinks("e"), text("hi"), thinks("f"), text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"raw reasoning", stream(`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"a"}`,
			`{"type":"response.reasoning_text.delta","output_index":0,"content_index":1,"delta":"b"}`, hi, completed), append([]model.Chunk{thinks("a"), thinks("\n\nb"), text("hi")}, ends(pawl.FinishEndTurn)...)},
		{"out of tokens", stream(hi, incomplete), append([]model.Chunk{text("hi")}, cutEnd...)},
		{"out of tokens in a thought", stream(summary("0", "0", "a"), done("0", `{"type":"reasoning","status":"incomplete","encrypted_content":"half"}`), incomplete), append([]model.Chunk{thinks("a")}, cutEnd...)},
		{"out of tokens in a call", stream(done("0", callA), added("1", callB),
			done("1", `{"type":"function_call","status":"incomplete","call_id":"b","name":"list","arguments":"{\"p"}`), incomplete), append([]model.Chunk{calls("a", "read", `{"p":1}`)}, cutEnd...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(t, replaying(strings.NewReader(tt.stream)))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestStreamFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		stream  string
		kind    pawl.ErrorKind
		message string
	}{
		{"nothing", "", pawl.ErrorConnection, "the reply was cut off"},
		{"no end", stream(created, hi), pawl.ErrorConnection, "the reply was cut off"},
		{"no end after a call", stream(created, done("0", callA)), pawl.ErrorConnection, "the reply was cut off"},
		{"cut in the last event", strings.TrimSuffix(stream(hi, completed), "}}}\n\n"), pawl.ErrorConnection, ""},
		{"not JSON", stream(hi, `{"type":`), pawl.ErrorMalformed, ""},
		{"DONE before the end", stream(hi, `[DONE]`), pawl.ErrorMalformed, ""},
		{"a delta that is no text", stream(`{"type":"response.output_text.delta","delta":{}}`), pawl.ErrorMalformed, ""},
		{"tool call without a name", stream(done("0", `{"type":"function_call","call_id":"a","arguments":"{}"}`), completed), pawl.ErrorMalformed, "tool call without a name: {}"},
		{"a call without an end", stream(hi, added("1", callA), completed), pawl.ErrorMalformed, "1 tool calls are incomplete"},
		{"refused", stream(`{"type":"response.refusal.delta","delta":"I "}`, `{"type":"response.refusal.delta","delta":"won't."}`, `{"type":"response.refusal.done","refusal":"I won't."}`, completed), pawl.ErrorRefused, "I won't."},
		{"refused, no end of it", stream(`{"type":"response.refusal.delta","delta":"No."}`, completed), pawl.ErrorRefused, "No."},
		{"refused without a word", stream(`{"type":"response.refusal.done"}`), pawl.ErrorRefused, "the model refused to answer"},
		{"filtered", stream(hi, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), pawl.ErrorRefused, "the provider's content filter stopped the reply"},
		{"incomplete for no reason", stream(hi, `{"type":"response.incomplete","response":{"incomplete_details":null}}`), pawl.ErrorServer, "the reply is incomplete: no reason given"},
		{"failed", stream(hi, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"Oops."}}}`), pawl.ErrorServer, "Oops."},
		{"failed by the rate", stream(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}}`), pawl.ErrorRateLimited, "Slow down."},
		{"failed by the size", stream(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Too long."}}}`), pawl.ErrorOverflow, "Too long."},
		{"failed by the prompt", stream(`{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"No."}}}`), pawl.ErrorInvalid, "No."},
		{"failed by an image", stream(`{"type":"response.failed","response":{"error":{"code":"image_too_large","message":"No."}}}`), pawl.ErrorInvalid, "No."},
		{"failed for no reason", stream(`{"type":"response.failed","response":{"error":null}}`), pawl.ErrorServer, ""},
		{"error", stream(`{"type":"error","code":"rate_limit_exceeded","message":"Slow down.","param":null}`), pawl.ErrorRateLimited, "Slow down."},
		{"error without a code", stream(`{"type":"error","code":null,"message":"Oops.","param":null}`), pawl.ErrorServer, "Oops."},
		{"error in an error", stream(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long."}}`), pawl.ErrorOverflow, "Too long."},
		{"error without words", stream(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":""}}`), pawl.ErrorOverflow, ""},
		{"quota", stream(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"Pay."}}`), pawl.ErrorAuth, "Pay."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(t, replaying(strings.NewReader(tt.stream)))
			var got *model.ProviderError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want a ModelError", err)
			}
			if got.Kind != tt.kind || got.Message == "" || tt.message != "" && got.Message != tt.message {
				t.Errorf("error %v, want %s: %s", got, tt.kind, tt.message)
			}
			for _, c := range chunks {
				if c.Kind == model.ChunkFinish {
					t.Error("a reply that failed has a finish")
				}
			}
		})
	}
}

// The caller may break off at any chunk.
func TestStreamBreak(t *testing.T) {
	t.Parallel()
	all := stream(hi, summary("1", "0", "a"), done("1", thought1), done("2", callA), completed)
	for stop := 1; stop <= 6; stop++ {
		n := 0
		for _, err := range replaying(strings.NewReader(all)).Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d chunks, want %d", n, stop)
		}
	}
}
