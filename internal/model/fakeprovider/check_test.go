package fakeprovider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// A request that a provider would refuse is refused with 400 and the reason.
func TestChecks(t *testing.T) {
	t.Parallel()
	const model, limit = `"model":"fake"`, `"max_tokens":100`
	head := map[fakeprovider.Protocol]string{
		fakeprovider.Messages: `{"model":"fake","max_tokens":100,"messages":[`, fakeprovider.Chat: `{"model":"fake","messages":[`,
		fakeprovider.Responses: `{"model":"fake","input":[`, fakeprovider.Gemini: `{"contents":[`,
	}
	tests := []struct {
		protocol fakeprovider.Protocol
		name     string
		body     string // a whole body, or what goes into the list of messages
		want     string
	}{
		{fakeprovider.Messages, "not JSON", `{`, "unexpected end of JSON input"},
		{fakeprovider.Messages, "no model", `{"max_tokens":100,"messages":[{"role":"user","content":"a"}]}`, "model: field required"},
		{fakeprovider.Messages, "no max_tokens", `{` + model + `,"messages":[]}`, "max_tokens: Field required"},
		{fakeprovider.Messages, "no messages", `{` + model + `,` + limit + `,"messages":[]}`, "messages: at least one message is required"},
		{fakeprovider.Messages, "a tool without a name", `{` + model + `,` + limit + `,"tools":[{"input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"}]}`, `tools.0: name ""`},
		{fakeprovider.Messages, "a tool without a schema", `{` + model + `,` + limit + `,"tools":[{"name":"read"}],"messages":[{"role":"user","content":"a"}]}`, "tools.0: read: want a JSON Schema of type object"},
		{fakeprovider.Messages, "a tool twice", `{` + model + `,` + limit + `,"tools":[{"name":"read","input_schema":{"type":"object"}},{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"}]}`, "tools.1: name \"read\": there is another"},
		{fakeprovider.Messages, "a small budget", `{` + model + `,` + limit + `,"thinking":{"type":"enabled","budget_tokens":50},"messages":[]}`, "budget_tokens"},
		{fakeprovider.Messages, "an assistant first", `{"role":"assistant","content":"a"},{"role":"user","content":"a"}`, "messages.0: roles are out of order"},
		{fakeprovider.Messages, "two assistants", `{"role":"user","content":"a"},{"role":"assistant","content":"a"},{"role":"assistant","content":"a"},{"role":"user","content":"a"}`, "messages.2: roles are out of order"},
		{fakeprovider.Messages, "another role", `{"role":"tool","content":"a"}`, "messages.0.role"},
		{fakeprovider.Messages, "empty text", `{"role":"user","content":""}`, "messages.0: content.0: text must not be empty"},
		{fakeprovider.Messages, "blank text", `{"role":"user","content":[{"type":"text","text":" \n"}]}`, "messages.0: content.0: text must not be empty"},
		{fakeprovider.Messages, "no content", `{"role":"user","content":[]}`, "messages.0: user: content must not be empty"},
		{fakeprovider.Messages, "an unknown block", `{"role":"user","content":[{"type":"video"}]}`, `unknown block type "video"`},
		{fakeprovider.Messages, "a blank prefill", `{"role":"user","content":"a"},{"role":"assistant","content":"b "}`, "trailing whitespace"},
		{fakeprovider.Messages, "a call of the user's", `{"role":"user","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]}`, "tool_use blocks can only be in assistant messages"},
		{fakeprovider.Messages, "text before results", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]},{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"1"}]}`, "tool_result blocks must come first"},
		{fakeprovider.Messages, "a result without a call", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}`, `the result of "1" has no call`},
		{fakeprovider.Messages, "a call without a result", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]},{"role":"user","content":"a"}`, `messages.2: call "1" has no result`},
		{fakeprovider.Messages, "a call at the end", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]}`, `call "1" has no result`},
		{fakeprovider.Messages, "an input that is no object", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":[]}]}`, `call "1": want an object`},
		{fakeprovider.Messages, "thoughts unsigned", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]}`, "thinking.signature: Field required"},
		{fakeprovider.Messages, "thoughts signed wrong", `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"b"},{"type":"text","text":"a"}]},{"role":"user","content":"a"}`, "messages.1: content.0: invalid signature"},

		{fakeprovider.Chat, "no messages", `{` + model + `,"messages":[]}`, "messages: at least one"},
		{fakeprovider.Chat, "usage without a stream", `{` + model + `,"stream_options":{"include_usage":true},"messages":[]}`, "stream_options"},
		{fakeprovider.Chat, "a tool without a name", `{` + model + `,"tools":[{"type":"function","function":{"parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"a"}]}`, "tools.0: name"},
		{fakeprovider.Chat, "a tool of no type", `{` + model + `,"tools":[{"function":{}}],"messages":[]}`, "tools.0.type"},
		{fakeprovider.Chat, "another role", `{"role":"model","content":"a"}`, "messages.0: role"},
		{fakeprovider.Chat, "empty text", `{"role":"user","content":""}`, "text must not be empty"},
		{fakeprovider.Chat, "a result without a call", `{"role":"user","content":"a"},{"role":"tool","tool_call_id":"1","content":"a"}`, `messages.1: content.0: the result of "1" has no call`},
		{fakeprovider.Chat, "a call without a result", `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"user","content":"a"}`, `call "1" has no result`},
		{fakeprovider.Chat, "one of two results", `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"a"}`, `call "2" has no result`},
		{fakeprovider.Chat, "two results of one call", `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"a"},{"role":"tool","tool_call_id":"1","content":"a"}`, `duplicate id: there is another result of call "1"`},
		{fakeprovider.Chat, "one id twice", `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}]}`, `duplicate id: there is another call "1"`},
		{fakeprovider.Chat, "an empty reply", `{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":"a"}`, "messages.1: content.0: text must not be empty"},

		{fakeprovider.Responses, "no input", `{` + model + `,"input":[]}`, "input: at least one"},
		{fakeprovider.Responses, "a tool without a schema", `{` + model + `,"tools":[{"type":"function","name":"a"}],"input":"a"}`, "tools.0: a: want a JSON Schema"},
		{fakeprovider.Responses, "an earlier response", `{` + model + `,"previous_response_id":"resp_1","input":"a"}`, "previous_response_id"},
		{fakeprovider.Responses, "a result without a call", `{"type":"function_call_output","call_id":"1","output":"a"}`, `the result of "1" has no call`},
		{fakeprovider.Responses, "a call without a result", `{"role":"user","content":"a"},{"type":"function_call","call_id":"1","name":"a","arguments":"{}"},{"role":"user","content":"a"}`, `call "1" has no result`},
		{fakeprovider.Responses, "thoughts unsealed", `{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[]}`, `item with id "rs_1" not found`},
		{fakeprovider.Responses, "thoughts without a summary", `{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","encrypted_content":"a"}`, "summary: field required"},
		{fakeprovider.Responses, "thoughts sealed wrong", `{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"a"},{"role":"assistant","content":"a"},{"role":"user","content":"a"}`, "invalid signature"},
		{fakeprovider.Responses, "another item", `{"type":"tool_use"}`, `unknown item type "tool_use"`},

		{fakeprovider.Gemini, "no contents", `{"contents":[]}`, "contents: at least one"},
		{fakeprovider.Gemini, "another role", `{"role":"assistant","parts":[{"text":"a"}]}`, "valid role: user, model"},
		{fakeprovider.Gemini, "no parts", `{"role":"user","parts":[]}`, "content must not be empty"},
		{fakeprovider.Gemini, "an empty part", `{"role":"user","parts":[{}]}`, "required oneof field"},
		{fakeprovider.Gemini, "a result without a call", `{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}}]}`, "has no call"},
		{fakeprovider.Gemini, "a call without a result", `{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"a"}}]},{"role":"user","parts":[{"text":"a"}]}`, "has no result"},
		{fakeprovider.Gemini, "a call signed wrong", `{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"a"},"thoughtSignature":"b"}]}`, "invalid signature"},
		{fakeprovider.Gemini, "a text signed wrong", `{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"b"}]},{"role":"user","parts":[{"text":"a"}]}`, "invalid thoughtSignature"},
		{fakeprovider.Gemini, "a tool without a name", `{"tools":[{"functionDeclarations":[{}]}],"contents":[{"parts":[{"text":"a"}]}]}`, "tools.0: name"},
	}
	srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"text":"two"}`)
	for _, tt := range tests {
		t.Run(string(tt.protocol)+" "+tt.name, func(t *testing.T) {
			body := tt.body
			if strings.HasPrefix(body, `{"role"`) || strings.HasPrefix(body, `{"type"`) {
				body = head[tt.protocol] + body + `]}`
			}
			r := post(t.Context(), srv.URL, tt.protocol, body)
			if got := r.message(t); r.status != http.StatusBadRequest || !strings.Contains(got, tt.want) {
				t.Errorf("got %d %s, want 400 %s", r.status, got, tt.want)
			}
		})
	}
}

// The reply is found by the history, and what the script expects is held against its end.
func TestPosition(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		srv := modeltest.StartFake(t, fakeprovider.Config{},
			`{"expect":"^hello$","text":"first"}`,
			`{"expect":"^go on$","calls":[{"name":"read"},{"name":"list"}]}`,
			`{"expect":"^both\nboth$","text":"third"}`)
		said := turn{text: "first", then: "go on"}
		called := turn{calls: []string{"call_2_1 read", "call_2_2 list"}, then: "both"}
		for i, h := range []history{{}, {said}, {said, called}} {
			r := post(t.Context(), srv.URL, p, h.body(p))
			if want := []string{"first", "call_2_2", "third"}[i]; r.status != http.StatusOK || !strings.Contains(r.body, want) {
				t.Errorf("%s %d: got %d %s, want %s", p, i, r.status, r.body, want)
			}
			if got := srv.Requests()[i].Position; got != i {
				t.Errorf("%s: the log says position %d, want %d", p, got, i)
			}
		}
		r := post(t.Context(), srv.URL, p, history{{text: "first", then: "stop"}}.body(p))
		if want := `expected to match "^go on$", but was "stop"`; r.status != http.StatusBadRequest || !strings.Contains(r.message(t), want) {
			t.Errorf("%s: got %d %s", p, r.status, r.body)
		}
	}
}

// Signed reasoning comes back as it was sent, before the results of its calls.
func TestReasoningReturns(t *testing.T) {
	t.Parallel()
	for _, p := range []fakeprovider.Protocol{fakeprovider.Messages, fakeprovider.Responses, fakeprovider.Gemini} {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"expect":"hello","reasoning":"hm","calls":[{"name":"list"}]}`, `{"text":"fine"}`)
		first := post(t.Context(), srv.URL, p, history{}.body(p))
		h := history{{reasoning: "hm", signature: signatureIn(t, first.body), calls: []string{"call_1_1 list"}, then: "ok"}}
		if r := post(t.Context(), srv.URL, p, h.body(p)); r.status != http.StatusOK {
			t.Errorf("%s: got %d %s", p, r.status, r.body)
		}
		h[0].signature = "x" + h[0].signature
		if r := post(t.Context(), srv.URL, p, h.body(p)); r.status != http.StatusBadRequest || !strings.Contains(r.message(t), "invalid signature") {
			t.Errorf("%s: a changed signature: got %d %s", p, r.status, r.body)
		}
		h[0].signature = ""
		r := post(t.Context(), srv.URL, p, h.body(p))
		if p == fakeprovider.Responses { // the real one takes calls without it
			if r.status != http.StatusOK {
				t.Errorf("%s: no reasoning: got %d %s", p, r.status, r.body)
			}
		} else if r.status != http.StatusBadRequest || !strings.Contains(r.message(t), "signed reasoning") {
			t.Errorf("%s: no reasoning: got %d %s", p, r.status, r.body)
		}
	}
}

// signatureIn finds the last signature of a stream.
func signatureIn(t *testing.T, stream string) string {
	t.Helper()
	for _, key := range []string{`"thoughtSignature":"`, `"encrypted_content":"`, `"signature":"`} {
		if i := strings.LastIndex(stream, key); i >= 0 {
			s, _, _ := strings.Cut(stream[i+len(key):], `"`)
			return s
		}
	}
	t.Fatalf("no signature in %s", stream)
	return ""
}

func TestKey(t *testing.T) {
	t.Parallel()
	srv := modeltest.StartFake(t, fakeprovider.Config{Key: "secret"}, `{"text":"hello"}`)
	headers := map[fakeprovider.Protocol]string{fakeprovider.Messages: "X-Api-Key", fakeprovider.Chat: "Authorization", fakeprovider.Responses: "Authorization", fakeprovider.Gemini: "X-Goog-Api-Key"}
	types := map[fakeprovider.Protocol]string{fakeprovider.Messages: `"authentication_error"`, fakeprovider.Chat: `"invalid_api_key"`, fakeprovider.Responses: `"invalid_api_key"`, fakeprovider.Gemini: `"UNAUTHENTICATED"`}
	for _, p := range protocols {
		for key, want := range map[string]int{"": 401, "wrong": 401, "secret": 200} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+paths[p], strings.NewReader(history{}.body(p)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Anthropic-Version", "2023-06-01")
			if headers[p] == "Authorization" && key != "" {
				key = "Bearer " + key
			}
			req.Header.Set(headers[p], key)
			r := do(req)
			if r.status != want || want == 401 && !strings.Contains(r.body, types[p]) {
				t.Errorf("%s with key %q: got %d %s", p, key, r.status, r.body)
			}
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"main"}`, `{"agent":"explore","text":"explored"}`)
	for path, want := range map[string]string{
		"/v1/models":     `{"object":"list","data":[{"id":"fake","object":"model","created":1700000000,"owned_by":"pawl"},{"id":"explore","object":"model","created":1700000000,"owned_by":"pawl"}]}`,
		"/v1beta/models": `{"models":[{"name":"models/fake","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]},{"name":"models/explore","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]}]}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := do(req); r.body != want {
			t.Errorf("%s: got %s", path, r.body)
		}
	}
	// The model's name chooses the agent's lines.
	r := post(t.Context(), srv.URL, fakeprovider.Chat, strings.Replace(history{}.body(fakeprovider.Chat), `"fake"`, `"explore"`, 1))
	if !strings.Contains(r.body, "explored") {
		t.Errorf("got %s", r.body)
	}
}
