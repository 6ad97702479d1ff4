package openaichat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// say is an event with a delta in it.
func say(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

// end is an event with a finish reason.
func end(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const done = "[DONE]"

func words(s string) model.Chunk { return model.Chunk{Kind: model.ChunkText, Text: s} }

func thinks(text, sealed string) model.Chunk {
	return model.Chunk{Kind: model.ChunkReasoning, Text: text, Signature: protocol.Seal(name, sealed)}
}

func emits(id, tool, input string) model.Chunk {
	return model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: pawl.CallID(id), Name: tool, Input: json.RawMessage(input)}}
}

func used(u pawl.Usage) model.Chunk { return model.Chunk{Kind: model.ChunkUsage, Usage: u} }

func finishes(f pawl.Finish) model.Chunk { return model.Chunk{Kind: model.ChunkFinish, Finish: f} }

// oddities are what servers do; each line is a behavior that was seen or is documented.
var oddities = []struct {
	name   string
	events []string
	want   []model.Chunk
	fails  pawl.ErrorKind
}{
	{
		name:   "text",
		events: []string{say(`{"role":"assistant","content":""}`), say(`{"content":"Hi"}`), say(`{"content":null}`), end("stop"), done},
		want:   []model.Chunk{words("Hi"), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "no [DONE] after the finish reason",
		events: []string{say(`{"content":"Hi"}`), end("stop"), `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`},
		want:   []model.Chunk{words("Hi"), used(pawl.Usage{Input: 3, Output: 1}), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "no finish reason before [DONE]",
		events: []string{say(`{"content":"Hi"}`), say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), done},
		want:   []model.Chunk{words("Hi"), emits("a", "f", `{}`), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "neither",
		events: []string{say(`{"content":"Hi"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":null}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":""}]}`},
		want:   []model.Chunk{words("Hi")}, fails: pawl.ErrorConnection,
	},
	{
		name:   "nothing after [DONE] is read",
		events: []string{say(`{"content":"Hi"}`), end("stop"), done, `garbage`},
		want:   []model.Chunk{words("Hi"), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "the finish reason twice, usage with the second",
		events: []string{say(`{"content":"Hi"}`), end("length"), `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, done},
		want:   []model.Chunk{words("Hi"), used(pawl.Usage{Input: 3, Output: 1}), finishes(pawl.FinishMaxTokens)},
	},
	{
		name: "usage grows, the last counts",
		events: []string{
			`{"choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, end("stop"),
			`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":2}}}`,
			`{"choices":[],"usage":null}`, done,
		},
		want: []model.Chunk{words("Hi"), used(pawl.Usage{Input: 1, Output: 7, Reasoning: 2, CacheRead: 4, CacheWrite: 5}), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "reasoning counted apart (xAI), null details",
		events: []string{say(`{"content":"Hi"}`), end("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":37,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":20}}}`, done},
		want:   []model.Chunk{words("Hi"), used(pawl.Usage{Input: 10, Output: 27, Reasoning: 20}), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "the cache by other names (DeepSeek, Vercel)",
		events: []string{say(`{"content":"Hi"}`), end("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4,"cache_creation_input_tokens":3}}`, done},
		want:   []model.Chunk{words("Hi"), used(pawl.Usage{Input: 1, Output: 1, CacheRead: 6, CacheWrite: 3}), finishes(pawl.FinishEndTurn)},
	},
	{
		name:   "other choices",
		events: []string{`{"choices":[{"index":1,"delta":{"content":"No"},"finish_reason":"length"},{"index":0,"delta":{"content":"Yes"}}]}`, end("stop"), done},
		want:   []model.Chunk{words("Yes"), finishes(pawl.FinishEndTurn)},
	},
	{
		name: "calls in pieces, out of order",
		events: []string{
			say(`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}`),
			say(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}},{"index":1,"function":{"arguments":"{\"y\":"}}]}`),
			say(`{"tool_calls":[{"index":1,"function":{"arguments":"2}"}},{"index":0,"function":{"arguments":":1}"}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("a", "f", `{"x":1}`), emits("b", "g", `{"y":2}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "text and whole calls in one delta, the old finish reason",
		events: []string{
			say(`{"content":"Look","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}]}`),
			end("function_call"), done,
		},
		want: []model.Chunk{words("Look"), emits("a", "f", `{}`), emits("b", "f", `{}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "id and name with each piece",
		events: []string{
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("a", "f", `{"x":1}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "the name again, without an id",
		events: []string{
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`),
			say(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":null}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("a", "f", `{}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "another id with each piece",
		events: []string{
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
			say(`{"tool_calls":[{"index":0,"id":"b","function":{"arguments":":1}"}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("a", "f", `{"x":1}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "no index, ids",
		events: []string{
			say(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`), say(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`),
			say(`{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{"}}]}`), say(`{"tool_calls":[{"id":"b","function":{"arguments":"}"}}]}`),
			end("stop"), done,
		},
		want: []model.Chunk{emits("a", "f", `{"x":1}`), emits("b", "g", `{}`), finishes(pawl.FinishEndTurn)},
	},
	{
		name: "no index, no ids",
		events: []string{
			say(`{"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":1}"}}]}`), say(`{"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":2}"}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("", "f", `{"x":1}`), emits("", "f", `{"x":2}`), finishes(pawl.FinishToolUse)},
	},
	{
		name: "every call has the index 0",
		events: []string{
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`), say(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}]}`),
			end("tool_calls"), done,
		},
		want: []model.Chunk{emits("a", "f", `{"x":1}`), emits("b", "f", `{"x":2}`), finishes(pawl.FinishToolUse)},
	},
	{
		name:   "arguments as an object, or none",
		events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}},{"index":1,"id":"b","function":{"name":"g"}}]}`), end("tool_calls"), done},
		want:   []model.Chunk{emits("a", "f", `{"x":1}`), emits("b", "g", `{}`), finishes(pawl.FinishToolUse)},
	},
	{
		name:   "garbled arguments are the loop's business",
		events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\": "}}]}`), end("length"), done},
		want:   []model.Chunk{emits("a", "f", `{"x": `), finishes(pawl.FinishMaxTokens)},
	},
	{
		name:   "tool call without a name",
		events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`), end("tool_calls"), done},
		fails:  pawl.ErrorMalformed,
	},
	{
		name:   "reasoning in two fields is the same",
		events: []string{say(`{"reasoning":"Hm","reasoning_content":"Hm"}`), say(`{"reasoning":"."}`), say(`{"content":"Hi"}`), end("stop"), done},
		want:   []model.Chunk{thinks("Hm", ""), thinks(".", ""), words("Hi"), finishes(pawl.FinishEndTurn)},
	},
	{
		name: "details with text and a signature",
		events: []string{
			say(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","signature":"","format":"a","index":0}]}`),
			say(`{"reasoning":"<see>","reasoning_details":[{"type":"reasoning.text","text":"<see>","format":"a","index":0}]}`),
			say(`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}`),
			say(`{"reasoning_details":[{"type":"reasoning.text","text":"More","index":0}]}`),
			say(`{"content":"Hi"}`), end("stop"), done,
		},
		want: []model.Chunk{
			thinks("I ", ""), thinks("<see>", ""), thinks("More", ""),
			thinks("", `[{"format":"a","index":0,"signature":"c2ln","text":"I <see>","type":"reasoning.text"},{"index":0,"text":"More","type":"reasoning.text"}]`),
			words("Hi"), finishes(pawl.FinishEndTurn),
		},
	},
	{
		name: "details of several indices, and encrypted ones, which come whole",
		events: []string{
			say(`{"reasoning_details":[{"type":"reasoning.summary","summary":"A","id":"r1","index":0},{"type":"reasoning.summary","summary":"B","id":"r2","index":1}]}`),
			say(`{"reasoning_details":[{"type":"reasoning.summary","summary":"a","id":"r1","index":0}]}`),
			say(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x","id":"r1","index":0}]}`),
			say(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"y","id":"r2","index":0}]}`),
			say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), end("tool_calls"), done,
		},
		want: []model.Chunk{
			thinks("AB", ""), thinks("a", ""),
			thinks("", `[{"id":"r1","index":0,"summary":"Aa","type":"reasoning.summary"},{"id":"r2","index":1,"summary":"B","type":"reasoning.summary"},`+
				`{"data":"x","id":"r1","index":0,"type":"reasoning.encrypted"},{"data":"y","id":"r2","index":0,"type":"reasoning.encrypted"}]`),
			emits("a", "f", `{}`), finishes(pawl.FinishToolUse),
		},
	},
	{
		name:   "details after the text (Gemini)",
		events: []string{say(`{"content":"Hi"}`), say(`{"content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`), end("stop"), done},
		want:   []model.Chunk{words("Hi"), thinks("", `[{"data":"x","type":"reasoning.encrypted"}]`), finishes(pawl.FinishEndTurn)},
	},
	{name: "content filter", events: []string{say(`{"content":"Hi"}`), end("content_filter"), done}, want: []model.Chunk{words("Hi")}, fails: pawl.ErrorRefused},
	{name: "refusal", events: []string{say(`{"refusal":"I can"}`), say(`{"refusal":"not."}`), end("stop"), done}, fails: pawl.ErrorRefused},
	{name: "out of room (DeepSeek)", events: []string{end("insufficient_system_resource"), done}, fails: pawl.ErrorOverloaded},
	{name: "failed without a word", events: []string{end("error"), done}, fails: pawl.ErrorServer},
	{name: "error", events: []string{say(`{"content":"Hi"}`), `{"error":{"message":"boom","type":"server_error","code":null}}`, done}, want: []model.Chunk{words("Hi")}, fails: pawl.ErrorServer},
	{name: "error with a status (OpenRouter)", events: []string{`{"id":"g","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":429,"message":"slow down"}}`}, fails: pawl.ErrorRateLimited},
	{name: "error in the choice", events: []string{`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":503,"message":"no room"}}]}`}, fails: pawl.ErrorOverloaded},
	{name: "error as an object (vLLM)", events: []string{`{"object":"error","message":"This model's maximum context length is 10 tokens.","type":"BadRequestError","code":400}`}, fails: pawl.ErrorOverflow},
	{name: "error in words", events: []string{`{"error":"the model crashed"}`}, fails: pawl.ErrorServer},
	{name: "a call that the server cannot read (Groq)", events: []string{`{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed"}}`}, fails: pawl.ErrorMalformed},
	{name: "not JSON", events: []string{`{"choices":`}, fails: pawl.ErrorMalformed},
	{name: "empty", fails: pawl.ErrorConnection},
}

func TestOddities(t *testing.T) {
	t.Parallel()
	for _, o := range oddities {
		t.Run(o.name, func(t *testing.T) {
			var stream strings.Builder
			for _, e := range o.events {
				stream.WriteString(": ping\n\ndata: " + e + "\n\n")
			}
			got, err := replay(t, Dialects["openrouter"], []byte(stream.String()))
			if diff := cmp.Diff(o.want, got); diff != "" {
				t.Error(diff)
			}
			var failure *model.ProviderError
			switch {
			case o.fails == "" && err != nil:
				t.Error(err)
			case o.fails != "" && (!errors.As(err, &failure) || failure.Kind != o.fails):
				t.Errorf("failed with %v, want %q", err, o.fails)
			}
		})
	}
}

// BenchmarkStream reads a reply of 20,000 deltas from a server on this machine.
func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	event := "data: " + `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1782321890,"model":"gpt","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"word "},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n"
	server := serve(b, []byte(strings.Repeat(event, deltas)+"data: "+end("stop")+"\n\ndata: [DONE]\n\n"))
	client := &Client{Endpoint: protocol.Endpoint{BaseURL: server.URL}, Model: "m"}
	b.ReportAllocs()
	for b.Loop() {
		chunks, err := collect(b, client)
		if err != nil || len(chunks) != deltas+1 {
			b.Fatalf("%d chunks, %v", len(chunks), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/deltas, "us/delta")
}
