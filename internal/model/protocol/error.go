package protocol

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// maxErrorBody bounds how much of an error response is read, in bytes.
const maxErrorBody = 64 << 10

// connectionError wraps a failure to reach a provider or to continue reading.
func connectionError(err error) error {
	var known *model.ProviderError
	if errors.As(err, &known) {
		return known
	}
	return &model.ProviderError{Kind: pawl.ErrorConnection, Message: err.Error()}
}

// statusError decodes an error response.
func statusError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a partial message is better than none
	e := ErrorOf(resp.StatusCode, body)
	e.RetryAfter = max(e.RetryAfter, retryAfter(resp.Header))
	return e
}

// ErrorOf classifies an error by its HTTP status (0 for an error within a stream) and its body.
func ErrorOf(status int, body []byte) *model.ProviderError {
	code, message := describe(body)
	reason, wait := googleDetails(body)
	if message == "" {
		message = cmp.Or(http.StatusText(status), strings.TrimSpace(code), "no reason given")
	}
	return &model.ProviderError{Kind: kindOf(status, strings.TrimSpace(reason+" "+code), message), Status: status, Message: message, RetryAfter: wait}
}

// googleDetails returns the reason and the retry delay in the details of a Google error.
func googleDetails(body []byte) (reason string, wait time.Duration) {
	var outer struct {
		Error struct {
			Details []struct {
				Reason     string `json:"reason"`
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(firstOf(body), &outer) != nil {
		return "", 0
	}
	for _, d := range outer.Error.Details {
		reason = strings.TrimSpace(reason + " " + strings.ToLower(d.Reason))
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			wait = max(wait, delay)
		}
	}
	return reason, wait
}

// firstOf returns the single element of a list, as in Gemini's errors, or the body itself.
func firstOf(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// describe returns the code and message of an error. Providers have {"error": {"message": …}} in common, and
// little else.
func describe(body []byte) (code, message string) {
	body = firstOf(body)
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return "", strings.TrimSpace(string(body[:min(len(body), 500)]))
	}
	var inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Code    json.RawMessage `json:"code"`
	}
	var text string
	if json.Unmarshal(outer.Error, &inner) != nil && json.Unmarshal(outer.Error, &text) == nil {
		inner.Message = text
	}
	for _, m := range []string{inner.Message, outer.Message, outer.Detail} {
		if m != "" {
			message = m
			break
		}
	}
	return strings.ToLower(strings.Join([]string{inner.Type, inner.Status, strings.Trim(string(inner.Code), `"`), outer.Type, strings.Trim(string(outer.Code), `"`)}, " ")), message
}

// overflows are messages for a request that exceeds the context window.
var overflows = []string{
	"context_length_exceeded", "request_too_large", "string_above_max_length", "exceed_context_size",
	"prompt is too long", "maximum context length", "context window", "context length", "context size",
	"input token count", "exceeds the maximum number of tokens", "too many tokens", "reduce the length", "input is too long",
}

// kinds maps error codes that are more specific than the status, in order.
var kinds = []struct {
	word string
	kind pawl.ErrorKind
}{
	{"overloaded", pawl.ErrorOverloaded},
	{"api_key_invalid", pawl.ErrorAuth},
	{"rate_limit", pawl.ErrorRateLimited},
	{"resource_exhausted", pawl.ErrorRateLimited},
	{"insufficient_quota", pawl.ErrorAuth},
	{"authentication", pawl.ErrorAuth},
	{"permission", pawl.ErrorAuth},
	{"invalid_api_key", pawl.ErrorAuth},
	{"unauthenticated", pawl.ErrorAuth},
	{"content_filter", pawl.ErrorRefused},
	{"content_policy", pawl.ErrorRefused},
	{"invalid_prompt", pawl.ErrorInvalid},
	{"image", pawl.ErrorInvalid},             // image_too_large, invalid_image_format, …
	{"tool_use_failed", pawl.ErrorMalformed}, // Groq could not parse the model's call
	{"invalid_request", pawl.ErrorInvalid},
	{"invalid_argument", pawl.ErrorInvalid},
	{"not_found", pawl.ErrorInvalid},
	{"unavailable", pawl.ErrorOverloaded},
	{"server_error", pawl.ErrorServer},
	{"api_error", pawl.ErrorServer},
	{"internal", pawl.ErrorServer},
}

func kindOf(status int, code, message string) pawl.ErrorKind {
	said := code + " " + strings.ToLower(message)
	if status == 0 {
		status = statusIn(code)
	}
	switch status { // unambiguous statuses
	case http.StatusRequestEntityTooLarge:
		return pawl.ErrorOverflow
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return pawl.ErrorAuth
	case http.StatusServiceUnavailable, statusOverloaded:
		return pawl.ErrorOverloaded
	}
	if status == 0 || status == http.StatusBadRequest {
		for _, o := range overflows {
			if strings.Contains(said, o) {
				return pawl.ErrorOverflow
			}
		}
	}
	for _, k := range kinds {
		if strings.Contains(code, k.word) {
			return k.kind
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return pawl.ErrorRateLimited
	case status == http.StatusRequestTimeout, status == http.StatusFailedDependency, status >= 500, status == 0: // 424: Bedrock's model failed
		return pawl.ErrorServer
	default:
		return pawl.ErrorInvalid
	}
}

// statusOverloaded is a non-standard status of Anthropic.
const statusOverloaded = 529

// statusIn returns the HTTP status in the code of an error within a stream; 0 for none.
func statusIn(code string) int {
	for word := range strings.FieldsSeq(code) {
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

// retryAfter returns the Retry-After of a response.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
