package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

const (
	textStart = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	blockStop = `{"type":"content_block_stop","index":0}`
	endTurn   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
	toolUse   = `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`
	last      = `{"type":"message_stop"}`
)

func textDelta(s string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}`
}

func callStart(input string) string {
	return `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":` + input + `}}`
}

func inputDelta(s string) string {
	raw, _ := json.Marshal(s)
	return `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + string(raw) + `}}`
}

// stream serves events and reads the reply.
func stream(t *testing.T, req model.Request, events ...string) (modeltest.Reply, error) {
	t.Helper()
	body := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	url := modeltest.Serve(t, modeltest.Exchange{Status: http.StatusOK, ContentType: "text/event-stream", ResponseBody: []byte(body)})
	return modeltest.Read(t.Context(), &Client{Endpoint: protocol.Endpoint{BaseURL: url}, Model: "claude"}, req)
}

func TestStream(t *testing.T) {
	t.Parallel()
	call := func(input string) pawl.Parts {
		return pawl.Parts{pawl.ToolCall{ID: "t1", Name: "f", Input: json.RawMessage(input)}}
	}
	text := func(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }
	structured := model.Request{Schema: json.RawMessage(`{}`)}
	tests := []struct {
		name   string
		req    model.Request
		events []string
		want   modeltest.Reply
	}{
		{"text", model.Request{}, []string{`{"type":"ping"}`, textStart, textDelta("a"), textDelta("b"), blockStop, endTurn, last},
			modeltest.Reply{Parts: text("ab"), Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Output: 5}}},
		{"text in the block's start", model.Request{}, []string{`{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`, textDelta("b"), toolUse, last},
			modeltest.Reply{Parts: text("ab"), Finish: pawl.FinishToolUse}},
		{"a call in pieces", model.Request{}, []string{callStart(`{}`), inputDelta(`{"a":`), inputDelta(``), inputDelta(`"\""}`), blockStop, toolUse, last},
			modeltest.Reply{Parts: call(`{"a":"\""}`), Finish: pawl.FinishToolUse}},
		{"a call without input", model.Request{}, []string{callStart(`{}`), inputDelta(``), blockStop, toolUse, last},
			modeltest.Reply{Parts: call(`{}`), Finish: pawl.FinishToolUse}},
		{"a call whole in its start", model.Request{}, []string{callStart(`{"a":1}`), blockStop, toolUse, last},
			modeltest.Reply{Parts: call(`{"a":1}`), Finish: pawl.FinishToolUse}},
		{"two calls", model.Request{}, []string{callStart(`{}`), inputDelta(`{"a":1}`), blockStop, strings.Replace(callStart(`{}`), "t1", "t2", 1), blockStop, toolUse, last},
			modeltest.Reply{Parts: append(call(`{"a":1}`), pawl.ToolCall{ID: "t2", Name: "f", Input: json.RawMessage(`{}`)}), Finish: pawl.FinishToolUse}},
		{"hidden thoughts", model.Request{}, []string{
			`{"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"X"}}`, blockStop,
			`{"type":"content_block_start","content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"S"}}`, blockStop, endTurn, last},
			modeltest.Reply{Parts: pawl.Parts{pawl.Reasoning{Signature: "anthropic:redacted:X"}, pawl.Reasoning{Signature: "anthropic:S"}}, Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Output: 5}}},
		{"a signature in pieces", model.Request{}, []string{
			`{"type":"content_block_start","content_block":{"type":"thinking","thinking":"hm","signature":"S"}}`,
			`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"I"}}`,
			`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"G"}}`, blockStop, endTurn, last},
			modeltest.Reply{Parts: pawl.Parts{pawl.Reasoning{Text: "hm", Signature: "anthropic:SIG"}}, Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Output: 5}}},
		{"no more room", model.Request{}, []string{textStart, textDelta("a"), `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, last},
			modeltest.Reply{Parts: text("a"), Finish: pawl.FinishMaxTokens}},
		{"usage is replaced, not added", model.Request{}, []string{
			`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":7,"cache_creation_input_tokens":3}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":8,"cache_read_input_tokens":null,"output_tokens_details":{"thinking_tokens":6}}}`, last},
			modeltest.Reply{Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Input: 9, Output: 8, Reasoning: 6, CacheRead: 7, CacheWrite: 3}}},
		{"structured", structured, []string{callStart(`{}`), inputDelta(`{"a":`), inputDelta(`1}`), blockStop, toolUse, last},
			modeltest.Reply{Parts: text(`{"a":1}`), Finish: pawl.FinishEndTurn}},
		{"what is not known is passed over", model.Request{}, []string{`{"type":"new"}`, `{"type":"content_block_start","content_block":{"type":"new"}}`, inputDelta("x"), blockStop, textStart, textDelta("a"), endTurn, last, `{"type":"after"}`},
			modeltest.Reply{Parts: text("a"), Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Output: 5}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := stream(t, test.req, test.events...)
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
	}{
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, pawl.ErrorOverloaded},
		{`{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, pawl.ErrorServer},
		{`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`, pawl.ErrorRateLimited},
		{`{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, pawl.ErrorRefused},
		{`{"type":"content_block_start","content_block":{"type":"tool_use","id":"t1"}}` + "\n\ndata: " + blockStop, pawl.ErrorMalformed},
		{`{"type":"message_del`, pawl.ErrorMalformed},
		{`[]`, pawl.ErrorMalformed},
		{endTurn, pawl.ErrorConnection}, // and no message_stop
	}
	for _, test := range tests {
		_, err := stream(t, model.Request{}, textStart, textDelta("a"), test.event)
		var failure *model.ProviderError
		if !errors.As(err, &failure) || failure.Kind != test.kind {
			t.Errorf("%s: got %v, want %s", test.event, err, test.kind)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	said := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"}}`
	}
	tests := []struct {
		status int
		header string
		body   string
		kind   pawl.ErrorKind
		wait   time.Duration
	}{
		{400, "", said("invalid_request_error", "max_tokens: too large"), pawl.ErrorInvalid, 0},
		{400, "", said("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), pawl.ErrorOverflow, 0},
		{401, "", said("authentication_error", "invalid x-api-key"), pawl.ErrorAuth, 0},
		{403, "", said("permission_error", "no"), pawl.ErrorAuth, 0},
		{404, "", said("not_found_error", "model: x"), pawl.ErrorInvalid, 0},
		{413, "", said("request_too_large", "too large"), pawl.ErrorOverflow, 0},
		{429, "7", said("rate_limit_error", "slow down"), pawl.ErrorRateLimited, 7 * time.Second},
		{500, "", said("api_error", "oh"), pawl.ErrorServer, 0},
		{502, "", "<html>Bad gateway</html>", pawl.ErrorServer, 0},
		{529, "", said("overloaded_error", "Overloaded"), pawl.ErrorOverloaded, 0},
	}
	for _, test := range tests {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if test.header != "" {
				w.Header().Set("Retry-After", test.header)
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}))
		_, err := modeltest.Read(t.Context(), &Client{Endpoint: protocol.Endpoint{BaseURL: server.URL}, Model: "claude"}, model.Request{})
		server.Close()
		var failure *model.ProviderError
		if !errors.As(err, &failure) || failure.Kind != test.kind || failure.Status != test.status || failure.RetryAfter != test.wait {
			t.Errorf("%d %s: got %#v, want %s after %s", test.status, test.body, err, test.kind, test.wait)
		}
	}
}

// silent answers with a stream on which nothing comes until its request ends.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	go func() {
		<-r.Context().Done()
		w.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
}

func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: "http://silent", Client: &http.Client{Transport: silent{}}}, Model: "claude"}
		began := time.Now()
		_, err := modeltest.Read(t.Context(), c, model.Request{})
		var failure *model.ProviderError
		if !errors.As(err, &failure) || failure.Kind != pawl.ErrorIdle || time.Since(began) != protocol.DefaultIdle {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
	})
}
