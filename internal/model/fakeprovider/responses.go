package fakeprovider

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

// responses is OpenAI's Responses protocol.
type responses struct{ chat }

func (d responses) events(req request, a answer) []event { return d.stream(req, a).events }

func (responses) stream(req request, a answer) responseStream {
	s := responseStream{req: req, a: a}
	s.add(markFrame, "response.created", `"response":%s`, s.response("in_progress", "null", nil))
	s.add(markFrame, "response.in_progress", `"response":%s`, s.response("in_progress", "null", nil))
	if len(a.reasoning) > 0 {
		s.reasoning()
	}
	switch {
	case a.finish == finishRefusal:
		s.message(markText, "refusal", "refusal", []string{refusalText})
	case len(a.text) > 0:
		s.message(markText, "output_text", "text", a.text)
	}
	for _, c := range a.calls {
		s.call(c)
	}
	status := "completed"
	if a.finish == pawl.FinishMaxTokens {
		status = "incomplete"
	}
	s.last = s.response(status, responseUsage(a), s.items)
	s.add(markEnd, "response."+status, `"response":%s`, s.last)
	return s
}

// responseStream numbers events and items, and collects the items for the final event.
type responseStream struct {
	events []event
	items  []string
	last   string // the completed response
	req    request
	a      answer
}

func (s *responseStream) add(m mark, name, format string, args ...any) {
	data := fmt.Sprintf(`{"type":%s,%s,"sequence_number":%d}`, quote(name), fmt.Sprintf(format, args...), len(s.events))
	s.events = append(s.events, named(m, name, data))
}

// id returns the id of the item that is being sent.
func (s *responseStream) id(prefix string) string {
	return fmt.Sprintf(`"%s_%d_%d"`, prefix, s.a.position+1, len(s.items)+1)
}

func (s *responseStream) done(item string) {
	s.add(markFrame, "response.output_item.done", `"item":%s,"output_index":%d`, item, len(s.items))
	s.items = append(s.items, item)
}

func (s *responseStream) reasoning() {
	id, index, text := s.id("rs"), len(s.items), strings.Join(s.a.reasoning, "")
	item := func(summary string) string {
		sealed := ""
		if s.req.encrypted {
			sealed = `"encrypted_content":` + quote(seal(text)) + ","
		}
		return fmt.Sprintf(`{"id":%s,"type":"reasoning","content":[],%s"summary":[%s]}`, id, sealed, summary)
	}
	place := fmt.Sprintf(`"item_id":%s,"output_index":%d,"summary_index":0`, id, index)
	part := `{"type":"summary_text","text":` + quote(text) + `}`
	s.add(markFrame, "response.output_item.added", `"item":%s,"output_index":%d`, item(""), index)
	s.add(markFrame, "response.reasoning_summary_part.added", `%s,"part":{"type":"summary_text","text":""}`, place)
	for _, p := range s.a.reasoning {
		s.add(markReasoning, "response.reasoning_summary_text.delta", `"delta":%s,%s`, quote(p), place)
	}
	s.add(markFrame, "response.reasoning_summary_text.done", `%s,"text":%s`, place, quote(text))
	s.add(markFrame, "response.reasoning_summary_part.done", `%s,"part":%s`, place, part)
	s.done(item(part))
}

// message sends a text or a refusal, which differ in the names of their events and fields.
func (s *responseStream) message(m mark, kind, field string, pieces []string) {
	id, index, text := s.id("msg"), len(s.items), strings.Join(pieces, "")
	more, logprobs := "", ""
	if kind == "output_text" {
		more, logprobs = `"annotations":[],"logprobs":[],`, `,"logprobs":[]`
	}
	part := func(text string) string {
		return fmt.Sprintf(`{"type":"%s",%s"%s":%s}`, kind, more, field, quote(text))
	}
	item := func(status, content string) string {
		return fmt.Sprintf(`{"id":%s,"type":"message","status":"%s","content":[%s],"role":"assistant"}`, id, status, content)
	}
	place := fmt.Sprintf(`"content_index":0,"item_id":%s,"output_index":%d`, id, index)
	s.add(markFrame, "response.output_item.added", `"item":%s,"output_index":%d`, item("in_progress", ""), index)
	s.add(markFrame, "response.content_part.added", `%s,"part":%s`, place, part(""))
	for _, p := range pieces {
		s.add(m, "response."+kind+".delta", `"delta":%s,%s%s`, quote(p), place, logprobs)
	}
	s.add(markFrame, "response."+kind+".done", `%s%s,"%s":%s`, place, logprobs, field, quote(text))
	s.add(markFrame, "response.content_part.done", `%s,"part":%s`, place, part(text))
	s.done(item("completed", part(text)))
}

func (s *responseStream) call(c call) {
	id, index := s.id("fc"), len(s.items)
	item := func(status, arguments string) string {
		return fmt.Sprintf(`{"id":%s,"type":"function_call","status":"%s","arguments":%s,"call_id":%s,"name":%s}`,
			id, status, quote(arguments), quote(string(c.ID)), quote(c.Name))
	}
	s.add(markCall, "response.output_item.added", `"item":%s,"output_index":%d`, item("in_progress", ""), index)
	for _, p := range c.pieces {
		s.add(markArguments, "response.function_call_arguments.delta", `"delta":%s,"item_id":%s,"output_index":%d`, quote(p), id, index)
	}
	s.add(markFrame, "response.function_call_arguments.done", `"arguments":%s,"item_id":%s,"output_index":%d`, quote(string(c.Input)), id, index)
	status := "completed"
	if s.a.finish == pawl.FinishMaxTokens {
		status = "incomplete"
	}
	s.done(item(status, string(c.Input)))
}

// response returns the object in the first and the last event.
func (s *responseStream) response(status, usage string, output []string) string {
	incomplete, completed := "null", "null"
	switch status {
	case "incomplete":
		incomplete = `{"reason":"max_output_tokens"}`
	case "completed":
		completed = "1700000001"
	}
	return fmt.Sprintf(`{"id":"resp_%d","object":"response","created_at":1700000000,"status":"%s","background":false,"completed_at":%s,"error":null,"incomplete_details":%s,"instructions":null,"model":%s,"output":[%s],"parallel_tool_calls":true,"previous_response_id":null,"store":false,"tool_choice":"auto","tools":[],"usage":%s,"metadata":{}}`,
		s.a.position+1, status, completed, incomplete, quote(s.req.model), strings.Join(output, ","), usage)
}

func responseUsage(a answer) string {
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		a.prompt(), a.usage.CacheRead, a.usage.Output, a.usage.Reasoning, a.prompt()+a.usage.Output)
}

func (d responses) whole(req request, a answer) string {
	return d.stream(req, a).last
}

func (d responses) failureEvents(sent int, f failure) []event {
	e := openaiErrorOf(f)
	if f.overflow {
		e.message = "Your input exceeds the context window of this model. Please adjust your input and try again."
	}
	code := quote(or(e.code, e.kind))
	s := responseStream{req: request{model: "fake"}}
	failed := strings.Replace(s.response("failed", "null", nil), `"error":null`, fmt.Sprintf(`"error":{"code":%s,"message":%s}`, code, quote(e.message)), 1)
	return []event{
		named(markFrame, "error", fmt.Sprintf(`{"type":"error","code":%s,"message":%s,"param":null,"sequence_number":%d}`, code, quote(e.message), sent)),
		named(markFrame, "response.failed", fmt.Sprintf(`{"type":"response.failed","response":%s,"sequence_number":%d}`, failed, sent+1)),
	}
}
