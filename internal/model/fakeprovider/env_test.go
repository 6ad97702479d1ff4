package fakeprovider_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

var update = flag.Bool("update", false, "write the golden files anew")

var protocols = []fakeprovider.Protocol{fakeprovider.Messages, fakeprovider.Chat, fakeprovider.Responses, fakeprovider.Gemini}

var paths = map[fakeprovider.Protocol]string{
	fakeprovider.Messages:  "/v1/messages",
	fakeprovider.Chat:      "/v1/chat/completions",
	fakeprovider.Responses: "/v1/responses",
	fakeprovider.Gemini:    "/v1beta/models/fake:streamGenerateContent?alt=sse",
}

// turn is one reply of a history and what followed it.
type turn struct {
	reasoning, signature string
	text                 string
	calls                []string // "id name"
	then                 string   // the result of each call, or what the user said next
}

// history is a conversation that begins with "hello".
type history []turn

// body is the request that a client of the protocol makes of the conversation.
func (h history) body(p fakeprovider.Protocol) string {
	switch p {
	case fakeprovider.Messages:
		return h.messages()
	case fakeprovider.Chat:
		return h.chat()
	case fakeprovider.Responses:
		return h.responses()
	default:
		return h.gemini()
	}
}

func (h history) messages() string {
	list := []string{`{"role":"user","content":"hello"}`}
	for _, t := range h {
		var blocks, results []string
		if t.signature != "" {
			blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":%q,"signature":%q}`, t.reasoning, t.signature))
		}
		if t.text != "" {
			blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%q}`, t.text))
		}
		for _, c := range t.calls {
			id, name, _ := strings.Cut(c, " ")
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name))
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, id, t.then))
		}
		if len(results) == 0 {
			results = []string{fmt.Sprintf(`{"type":"text","text":%q}`, t.then)}
		}
		list = append(list, `{"role":"assistant","content":[`+strings.Join(blocks, ",")+`]}`, `{"role":"user","content":[`+strings.Join(results, ",")+`]}`)
	}
	return `{"model":"fake","max_tokens":2048,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + strings.Join(list, ",") + `]}`
}

func (h history) chat() string {
	list := []string{`{"role":"system","content":"be brief"}`, `{"role":"user","content":"hello"}`}
	for _, t := range h {
		var calls, results []string
		for _, c := range t.calls {
			id, name, _ := strings.Cut(c, " ")
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, id, name))
			results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, t.then))
		}
		message := fmt.Sprintf(`{"role":"assistant","content":%q}`, t.text)
		if len(calls) > 0 {
			message = fmt.Sprintf(`{"role":"assistant","content":%q,"tool_calls":[%s]}`, t.text, strings.Join(calls, ","))
		} else {
			results = []string{fmt.Sprintf(`{"role":"user","content":%q}`, t.then)}
		}
		list = append(append(list, message), results...)
	}
	return `{"model":"fake","stream":true,"stream_options":{"include_usage":true},"messages":[` + strings.Join(list, ",") + `]}`
}

func (h history) responses() string {
	list := []string{`{"role":"user","content":[{"type":"input_text","text":"hello"}]}`}
	for _, t := range h {
		var results []string
		if t.signature != "" {
			list = append(list, fmt.Sprintf(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":%q}],"encrypted_content":%q}`, t.reasoning, t.signature))
		}
		if t.text != "" {
			list = append(list, fmt.Sprintf(`{"role":"assistant","content":[{"type":"output_text","text":%q}]}`, t.text))
		}
		for _, c := range t.calls {
			id, name, _ := strings.Cut(c, " ")
			list = append(list, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":"{}"}`, id, name))
			results = append(results, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, t.then))
		}
		if len(results) == 0 {
			results = []string{fmt.Sprintf(`{"role":"user","content":%q}`, t.then)}
		}
		list = append(list, results...)
	}
	return `{"model":"fake","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[` + strings.Join(list, ",") + `]}`
}

func (h history) gemini() string {
	list := []string{`{"role":"user","parts":[{"text":"hello"}]}`}
	for _, t := range h {
		var parts, results []string
		if t.text != "" {
			parts = append(parts, fmt.Sprintf(`{"text":%q}`, t.text))
		}
		for i, c := range t.calls {
			id, name, _ := strings.Cut(c, " ")
			signature := ""
			if i == 0 && t.signature != "" {
				signature = fmt.Sprintf(`,"thoughtSignature":%q`, t.signature)
			}
			parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":{}}%s}`, id, name, signature))
			results = append(results, fmt.Sprintf(`{"functionResponse":{"id":%q,"name":%q,"response":{"output":%q}}}`, id, name, t.then))
		}
		if len(results) == 0 {
			results = []string{fmt.Sprintf(`{"text":%q}`, t.then)}
		}
		list = append(list, `{"role":"model","parts":[`+strings.Join(parts, ",")+`]}`, `{"role":"user","parts":[`+strings.Join(results, ",")+`]}`)
	}
	return `{"contents":[` + strings.Join(list, ",") + `]}`
}

// response is what came back, as far as it came.
type response struct {
	status int
	header http.Header
	body   string
	err    error // that ended it, other than its end
}

// post sends a body to the protocol's path at the server.
func post(ctx context.Context, url string, p fakeprovider.Protocol, body string) response {
	return send(ctx, url+paths[p], body)
}

func send(ctx context.Context, url, body string) response {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return response{err: err}
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	return do(req)
}

func do(req *http.Request) response {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return response{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, string(data), err}
}

// message is what an error's body says.
func (r response) message(t *testing.T) string {
	t.Helper()
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		t.Fatalf("%v in %q", err, r.body)
	}
	return e.Error.Message
}
