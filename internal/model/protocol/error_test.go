package protocol

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// TestErrorOf: what providers say, in their own shapes and words.
func TestErrorOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		kind    pawl.ErrorKind
		message string
	}{
		{"anthropic, key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, pawl.ErrorAuth, "invalid x-api-key"},
		{"anthropic, overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, pawl.ErrorOverloaded, "Overloaded"},
		{"anthropic, overloaded in a stream", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, pawl.ErrorOverloaded, "Overloaded"},
		{"anthropic, too long", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, pawl.ErrorOverflow, "prompt is too long: 210000 tokens > 200000 maximum"},
		{"anthropic, wrong", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: field required"}}`, pawl.ErrorInvalid, "max_tokens: field required"},
		{"openai, too long", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, pawl.ErrorOverflow, "This model's maximum context length is 8192 tokens."},
		{"openai, no money", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, pawl.ErrorAuth, "You exceeded your current quota"},
		{"openai, too fast", 429, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, pawl.ErrorRateLimited, "Rate limit reached"},
		{"openai, no such model", 404, `{"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}}`, pawl.ErrorInvalid, "The model does not exist"},
		{"gemini, a list", 429, `[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]`, pawl.ErrorRateLimited, "Resource has been exhausted"},
		{"gemini, too long", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}`, pawl.ErrorOverflow, "The input token count (1200000) exceeds the maximum number of tokens allowed"},
		{"an error that is a text", 500, `{"error":"boom"}`, pawl.ErrorServer, "boom"},
		{"a proxy's page", 502, `<html>Bad Gateway</html>`, pawl.ErrorServer, "<html>Bad Gateway</html>"},
		{"nothing", 503, ``, pawl.ErrorOverloaded, "Service Unavailable"},
		{"too large", 413, `{"message":"Payload Too Large"}`, pawl.ErrorOverflow, "Payload Too Large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ErrorOf(tt.status, []byte(tt.body))
			if diff := cmp.Diff(&model.ProviderError{Kind: tt.kind, Status: tt.status, Message: tt.message}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"": 0, "2": 2 * time.Second, "0.5": time.Second / 2, "soon": 0, "-1": 0, "Wed, 21 Oct 2015 07:28:00 GMT": 0} {
		if got := retryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("Retry-After %q: %s, want %s", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}); got != 1500*time.Millisecond {
		t.Errorf("Retry-After-Ms: %s", got)
	}
	wait := retryAfter(http.Header{"Retry-After": {time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)}})
	if wait < 50*time.Second || wait > time.Minute {
		t.Errorf("a date in a minute: %s", wait)
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	sealed := Seal("gemini", "abc")
	if got := Unseal("gemini", sealed); got != "abc" {
		t.Errorf("got %q", got)
	}
	if Unseal("anthropic", sealed) != "" || Seal("gemini", "") != "" || Unseal("gemini", "") != "" {
		t.Error("a signature goes back to the protocol it came from, and to no other")
	}
}
