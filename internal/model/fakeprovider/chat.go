package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl"
)

// chat is OpenAI's Chat Completions protocol, with the reasoning_content that other providers have added.
type chat struct{}

func (chat) key(r *http.Request) string { return or(r.Header.Get("Api-Key"), bearer(r)) }

func (chat) events(req request, a answer) []event {
	s := chatStream{req: req, a: a}
	content := `"content":"","refusal":null`
	if len(a.text) == 0 && len(a.calls) > 0 {
		content = `"content":null`
	}
	s.delta(markFrame, `{"role":"assistant",%s}`, content)
	for _, p := range a.reasoning {
		s.delta(markReasoning, `{"reasoning_content":%s}`, quote(p))
	}
	for _, p := range a.text {
		s.delta(markText, `{"content":%s}`, quote(p))
	}
	for i, c := range a.calls {
		s.delta(markCall, `{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`,
			i, quote(string(c.ID)), quote(c.Name))
		for _, p := range c.pieces {
			s.delta(markArguments, `{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(p))
		}
	}
	s.chunk(markEnd, fmt.Sprintf(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":%s}]`, quote(finishReason(a))), "null")
	if req.includeUsage {
		s.chunk(markEnd, "[]", chatUsage(a))
	}
	s.events = append(s.events, event{markEnd, "data: [DONE]\n\n"})
	return s.events
}

type chatStream struct {
	events []event
	req    request
	a      answer
}

func (s *chatStream) delta(m mark, format string, args ...any) {
	s.chunk(m, fmt.Sprintf(`[{"index":0,"delta":%s,"logprobs":null,"finish_reason":null}]`, fmt.Sprintf(format, args...)), "null")
}

// chunk adds an object to the stream. If usage was requested, it is null in all but the last.
func (s *chatStream) chunk(m mark, choices, usage string) {
	if s.req.includeUsage {
		choices += `,"usage":` + usage
	}
	data := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":%s,"service_tier":"default","system_fingerprint":"fp_1","choices":%s}`,
		s.a.position+1, quote(s.req.model), choices)
	s.events = append(s.events, event{m, "data: " + data + "\n\n"})
}

func (chat) whole(req request, a answer) string {
	message := `"content":null`
	if len(a.text) > 0 || len(a.calls) == 0 {
		message = `"content":` + quote(strings.Join(a.text, ""))
	}
	if len(a.reasoning) > 0 {
		message += `,"reasoning_content":` + quote(strings.Join(a.reasoning, ""))
	}
	if len(a.calls) > 0 {
		var calls []string
		for _, c := range a.calls {
			calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
				quote(string(c.ID)), quote(c.Name), quote(string(c.Input))))
		}
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":1700000000,"model":%s,"choices":[{"index":0,"message":{"role":"assistant",%s,"refusal":null},"logprobs":null,"finish_reason":%s}],"usage":%s}`,
		a.position+1, quote(req.model), message, quote(finishReason(a)), chatUsage(a))
}

func finishReason(a answer) string {
	switch a.finish {
	case pawl.FinishToolUse:
		return "tool_calls"
	case pawl.FinishMaxTokens:
		return "length"
	case finishRefusal:
		return "content_filter"
	default:
		return "stop"
	}
}

func chatUsage(a answer) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":%d,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`,
		a.prompt(), a.usage.Output, a.prompt()+a.usage.Output, a.usage.CacheRead, a.usage.Reasoning)
}

// openaiError is the type, code and message of an OpenAI error.
type openaiError struct{ kind, code, message string }

var openaiErrors = map[int]openaiError{
	400: {"invalid_request_error", "", "Invalid request."},
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."},
	403: {"invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"},
	404: {"invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."},
	413: {"invalid_request_error", "", "Request body is too large."},
	429: {"tokens", "rate_limit_exceeded", "Rate limit reached for requests. Please try again in 2s."},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"service_unavailable_error", "", "The server is currently overloaded with other requests. Sorry about that! You can retry your request."},
}

func openaiErrorOf(f failure) openaiError {
	e, ok := openaiErrors[f.status]
	switch {
	case f.overflow:
		e = openaiError{"invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages."}
	case f.status == statusOverloaded:
		e = openaiErrors[http.StatusInternalServerError]
	case !ok:
		e = openaiError{"server_error", "", http.StatusText(f.status)}
	}
	e.message = or(f.message, e.message)
	return e
}

func (chat) failure(f failure) string {
	e := openaiErrorOf(f)
	code := "null"
	if e.code != "" {
		code = quote(e.code)
	}
	return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":null,"code":%s}}`, quote(e.message), quote(e.kind), code)
}

func (d chat) failureEvents(_ int, f failure) []event {
	return []event{{markFrame, "data: " + d.failure(f) + "\n\n"}}
}
