package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// text is an event with a piece of text; stop is one that ends the reply.
func text(s string) string { return `{"candidates":[{"content":{"parts":[{"text":"` + s + `"}]}}]}` }

const stop = `{"candidates":[{"finishReason":"STOP"}]}`

// stream serves events and reads the reply.
func stream(t *testing.T, events ...string) (modeltest.Reply, error) {
	t.Helper()
	var body strings.Builder
	for _, e := range events {
		body.WriteString("data: " + e + "\r\n\r\n")
	}
	url := modeltest.Serve(t, modeltest.Exchange{Status: http.StatusOK, ContentType: "text/event-stream", ResponseBody: []byte(body.String())})
	return modeltest.Read(t.Context(), &Client{Endpoint: protocol.Endpoint{BaseURL: url}, Model: "gemini-3-pro", Levels: true}, model.Request{})
}

func TestStream(t *testing.T) {
	t.Parallel()
	call := func(input string) pawl.ToolCall { return pawl.ToolCall{Name: "f", Input: json.RawMessage(input)} }
	tests := []struct {
		name   string
		events []string
		want   modeltest.Reply
	}{
		{"finish in an event of its own", []string{text("a"), text("b"), stop},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "ab"}}, Finish: pawl.FinishEndTurn}},
		{"usage after the finish", []string{text("a"), stop, `{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3}}`},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Input: 6, CacheRead: 4, Output: 5, Reasoning: 3}}},
		{"no more room", []string{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MAX_TOKENS"}]}`},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishMaxTokens}},
		{"no more room after a call", []string{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"MAX_TOKENS"}]}`},
			modeltest.Reply{Parts: pawl.Parts{call(`{}`)}, Finish: pawl.FinishMaxTokens}},
		{"calls without arguments", []string{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":null}}]}}]}`, stop},
			modeltest.Reply{Parts: pawl.Parts{call(`{}`), call(`{}`)}, Finish: pawl.FinishToolUse}},
		{"thoughts, then text", []string{`{"candidates":[{"content":{"parts":[{"text":"h","thought":true},{"text":"m","thought":true},{"text":"a"}]}}]}`, stop},
			modeltest.Reply{Parts: pawl.Parts{pawl.Reasoning{Text: "hm"}, pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn}},
		{"a signature on text", []string{`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"bc","thoughtSignature":"S"},{"text":"d"}]}}]}`, stop},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "abc"}, pawl.Reasoning{Signature: sealText(2, "S")}, pawl.Text{Text: "d"}}, Finish: pawl.FinishEndTurn}},
		{"what is not known is passed over", []string{`{"candidates":[],"new":1}`, `{}`, `{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1"}},{"text":"a","new":{}}]},"groundingMetadata":{}}]}`, stop},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn}},
		{"only the first candidate counts", []string{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"b"}]},"finishReason":"SAFETY"}]}`},
			modeltest.Reply{Parts: pawl.Parts{pawl.Text{Text: "a"}}, Finish: pawl.FinishEndTurn}},
		{"nothing", []string{stop}, modeltest.Reply{Finish: pawl.FinishEndTurn}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := stream(t, test.events...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamFailure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		event string
		kind  pawl.ErrorKind
		says  string
	}{
		{`{"candidates":[{"finishReason":"SAFETY"}]}`, pawl.ErrorRefused, "SAFETY"},
		{`{"candidates":[{"finishReason":"RECITATION"}]}`, pawl.ErrorRefused, "RECITATION"},
		{`{"candidates":[{"finishReason":"PROHIBITED_CONTENT","finishMessage":"no"}]}`, pawl.ErrorRefused, "PROHIBITED_CONTENT: no"},
		{`{"promptFeedback":{"blockReason":"SAFETY"}}`, pawl.ErrorRefused, "the prompt was blocked: SAFETY"},
		{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"f(("}]}`, pawl.ErrorMalformed, "f(("},
		{`{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL"}]}`, pawl.ErrorMalformed, "UNEXPECTED_TOOL_CALL"},
		{`{"candidates":[{"finishReason":"MISSING_THOUGHT_SIGNATURE"}]}`, pawl.ErrorInvalid, "MISSING_THOUGHT_SIGNATURE"},
		{`{"candidates":[{"finishReason":"OTHER"}]}`, pawl.ErrorServer, "OTHER"},
		{`{"candidates":[{"content":{"parts":[{"functionCall":{"args":{}}}]}}]}`, pawl.ErrorMalformed, "without a name"},
		{`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, pawl.ErrorOverloaded, "overloaded"},
		{`{"error":{"code":500,"message":"Internal error.","status":"INTERNAL"}}`, pawl.ErrorServer, "Internal error."},
		{`{"candidates":[{"content":{"parts":[{"te`, pawl.ErrorMalformed, "unexpected end"},
		{`{"candidates":[{"content":{"parts":[{"text":7}]}}]}`, pawl.ErrorMalformed, "cannot unmarshal"},
		{`<html>`, pawl.ErrorMalformed, "html"},
		{text("more"), pawl.ErrorConnection, "cut off"},
	}
	for _, test := range tests {
		_, err := stream(t, text("a"), test.event)
		var failure *model.ProviderError
		if !errors.As(err, &failure) || failure.Kind != test.kind || !strings.Contains(failure.Message, test.says) {
			t.Errorf("%s: got %v, want %s with %q", test.event, err, test.kind, test.says)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		body   string
		kind   pawl.ErrorKind
		wait   time.Duration
	}{
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, pawl.ErrorAuth, 0},
		{400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, pawl.ErrorOverflow, 0},
		{400, `{"error":{"code":400,"message":"Unknown name \"x\"","status":"INVALID_ARGUMENT"}}`, pawl.ErrorInvalid, 0},
		{403, `{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}`, pawl.ErrorAuth, 0},
		{404, `{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}`, pawl.ErrorInvalid, 0},
		{429, `[{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","reason":"RATE_LIMIT_EXCEEDED"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`, pawl.ErrorRateLimited, 34500 * time.Millisecond},
		{500, `{"error":{"code":500,"message":"Oh.","status":"INTERNAL"}}`, pawl.ErrorServer, 0},
		{503, `{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}`, pawl.ErrorOverloaded, 0},
	}
	for _, test := range tests {
		url := modeltest.Serve(t, modeltest.Exchange{Status: test.status, ContentType: "application/json", ResponseBody: []byte(test.body)})
		_, err := modeltest.Read(t.Context(), &Client{Endpoint: protocol.Endpoint{BaseURL: url}, Model: "m"}, model.Request{})
		var failure *model.ProviderError
		if !errors.As(err, &failure) || failure.Kind != test.kind || failure.Status != test.status || failure.RetryAfter != test.wait {
			t.Errorf("%d %s: got %#v, want %s after %s", test.status, test.body, err, test.kind, test.wait)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	var asked, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, key = r.URL.String(), r.Header.Get("X-Goog-Api-Key")
		_, _ = io.WriteString(w, "data: "+stop+"\n\n")
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"":                           "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"/v1beta1/projects/p/models": "/v1beta1/projects/p/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
	} {
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: server.URL, Header: http.Header{"X-Goog-Api-Key": {"k"}}}, Model: "gemini-2.5-pro", Path: path}
		if _, err := modeltest.Read(t.Context(), c, model.Request{}); err != nil {
			t.Fatal(err)
		}
		if asked != want || key != "k" {
			t.Errorf("asked %s with key %q, want %s", asked, key, want)
		}
	}
}
