package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl"
)

// messages is Anthropic's Messages protocol.
type messages struct{}

func (messages) key(r *http.Request) string {
	return or(r.Header.Get("X-Api-Key"), bearer(r))
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (messages) events(req request, a answer) []event {
	s := messageStream{}
	s.add(markFrame, "message_start", `"message":%s`, messageBody(req, a, "[]", "null", messageUsage(a, 1)))
	for _, p := range a.reasoning {
		s.open("thinking", `{"type":"thinking","thinking":"","signature":""}`)
		s.delta(markReasoning, `{"type":"thinking_delta","thinking":%s}`, quote(p))
	}
	if len(a.reasoning) > 0 {
		s.delta(markFrame, `{"type":"signature_delta","signature":%s}`, quote(seal(strings.Join(a.reasoning, ""))))
	}
	for _, p := range a.text {
		s.open("text", `{"type":"text","text":""}`)
		s.delta(markText, `{"type":"text_delta","text":%s}`, quote(p))
	}
	for _, c := range a.calls {
		s.close()
		s.open("tool_use", fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(string(c.ID)), quote(c.Name)))
		s.delta(markFrame, `{"type":"input_json_delta","partial_json":%s}`, `""`)
		for _, p := range c.pieces {
			s.delta(markArguments, `{"type":"input_json_delta","partial_json":%s}`, quote(p))
		}
	}
	s.close()
	s.add(markEnd, "message_delta", `"delta":{"stop_reason":%s,"stop_sequence":null},"usage":%s`,
		quote(stopReason(a)), messageUsage(a, a.usage.Output))
	s.add(markEnd, "message_stop", "")
	return s.events
}

// messageStream numbers the blocks of a message and keeps one open at a time.
type messageStream struct {
	events []event
	index  int
	block  string
}

func (s *messageStream) add(m mark, name, format string, args ...any) {
	data := `{"type":` + quote(name)
	if format != "" {
		data += "," + fmt.Sprintf(format, args...)
	}
	s.events = append(s.events, named(m, name, data+"}"))
}

// open starts a block of this kind, unless it is open already.
func (s *messageStream) open(kind, block string) {
	if s.block == kind {
		return
	}
	s.close()
	s.block = kind
	m := markFrame
	if kind == "tool_use" {
		m = markCall
	}
	s.add(m, "content_block_start", `"index":%d,"content_block":%s`, s.index, block)
	if s.index == 0 {
		s.add(markFrame, "ping", "")
	}
}

func (s *messageStream) delta(m mark, format string, args ...any) {
	s.add(m, "content_block_delta", `"index":%d,"delta":%s`, s.index, fmt.Sprintf(format, args...))
}

func (s *messageStream) close() {
	if s.block != "" {
		s.add(markFrame, "content_block_stop", `"index":%d`, s.index)
		s.index, s.block = s.index+1, ""
	}
}

func (messages) whole(req request, a answer) string {
	var content []string
	if len(a.reasoning) > 0 {
		text := strings.Join(a.reasoning, "")
		content = append(content, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(text), quote(seal(text))))
	}
	if len(a.text) > 0 {
		content = append(content, fmt.Sprintf(`{"type":"text","text":%s}`, quote(strings.Join(a.text, ""))))
	}
	for _, c := range a.calls {
		content = append(content, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(string(c.ID)), quote(c.Name), c.arguments()))
	}
	return messageBody(req, a, "["+strings.Join(content, ",")+"]", quote(stopReason(a)), messageUsage(a, a.usage.Output))
}

func messageBody(req request, a answer, content, stop, usage string) string {
	return fmt.Sprintf(`{"model":%s,"id":"msg_%d","type":"message","role":"assistant","content":%s,"stop_reason":%s,"stop_sequence":null,"usage":%s}`,
		quote(req.model), a.position+1, content, stop, usage)
}

func messageUsage(a answer, output int64) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}`,
		a.usage.Input, a.usage.CacheWrite, a.usage.CacheRead, output)
}

func stopReason(a answer) string {
	switch a.finish {
	case pawl.FinishToolUse, pawl.FinishMaxTokens, finishRefusal:
		return string(a.finish)
	default:
		return "end_turn"
	}
}

// messageErrors are the types and messages of Anthropic's errors.
var messageErrors = map[int][2]string{
	400: {"invalid_request_error", "Error"},
	401: {"authentication_error", "invalid x-api-key"},
	403: {"permission_error", "Your API key does not have permission to use the specified resource."},
	404: {"not_found_error", "model: not found"},
	413: {"request_too_large", "Request exceeds the maximum size"},
	429: {"rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute."},
	500: {"api_error", "Internal server error"},
	504: {"timeout_error", "The request timed out."},
	529: {"overloaded_error", "Overloaded"},
}

func (messages) failure(f failure) string {
	e, ok := messageErrors[f.status]
	if !ok {
		e = [2]string{"api_error", http.StatusText(f.status)}
	}
	if f.overflow {
		e = [2]string{"invalid_request_error", "prompt is too long: 215316 tokens > 200000 maximum"}
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s},"request_id":"req_1"}`, quote(e[0]), quote(or(f.message, e[1])))
}

func (d messages) failureEvents(_ int, f failure) []event {
	return []event{named(markFrame, "error", d.failure(f))}
}
