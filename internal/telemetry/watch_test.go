package telemetry

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// work records a session with a retry, a tool call that runs, one that is denied, and a
// subagent that fails.
func (w *env) work() {
	usage := pawl.Usage{Input: 10, Output: 5, CacheRead: 100, Cost: 2e6}
	w.write(session, 0, pawl.SessionCreated{Dir: "/w"}, pawl.Prompted{Parts: said("fix it, the key is s3cret")})
	w.write(session, 1,
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Wait: time.Second, Model: model, Kind: pawl.ErrorRateLimited, Message: "slow down, s3cret"}},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelText, Text: "I"},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelText, Text: " will"},
		pawl.Replied{Step: 1, Model: model, Agent: "build", Parts: said("I will", call("c1", "read", `{"path":"s3cret"}`), call("c2", "bash", `{}`), call("c3", "task", `{}`)), Finish: pawl.FinishToolUse, Usage: usage},
		pawl.CallStarted{Call: "c1", Tool: "read", ReadOnly: true},
		pawl.CallFinished{Call: "c1", Status: pawl.CallDone, Result: pawl.Result{Content: "it has s3cret in it"}},
		pawl.CallFinished{Call: "c2", Status: pawl.CallDenied, Result: toolapi.ErrorResult("not permitted")},
		pawl.CallStarted{Call: "c3", Tool: "task"},
		pawl.Spawned{Call: "c3", Subagent: subagent, Agent: "explore", Title: "look"},
	)
	w.write(subagent, 0, pawl.SessionCreated{Dir: "/w", Parent: session, ParentCall: "c3"}, pawl.Prompted{Parts: said("look")})
	w.write(subagent, 1,
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "it is down", Steps: 1},
	)
	w.write(session, 1,
		pawl.CallFinished{Call: "c3", Status: pawl.CallDone, Result: toolapi.ErrorResult("the task failed")},
		pawl.ReplyStarted{Step: 2, Model: model},
		pawl.Replied{Step: 2, Model: "openai/gpt-y", Agent: "build", Parts: said("done"), Finish: pawl.FinishEndTurn, Usage: usage},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2, Usage: usage.Add(usage)},
	)
	w.write(session, 0, pawl.SessionTitled{Title: "A fix", ModelUsage: pawl.ModelUsage{Model: "anthropic/small", Usage: pawl.Usage{Input: 3, Output: 1}}})
}

// tree prints spans as a tree, with the requested attributes.
func tree(spans []*tracepb.Span, keys ...string) string {
	var b strings.Builder
	slices.SortFunc(spans, func(a, b *tracepb.Span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	var draw func(parent []byte, indent string)
	draw = func(parent []byte, indent string) {
		for _, s := range spans {
			if string(s.GetParentSpanId()) != string(parent) {
				continue
			}
			from, to := s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano()
			fmt.Fprintf(&b, "%s%s %d+%d", indent, s.GetName(), (from-uint64(noon.UnixNano()))/1e9, (to-from)/1e9) //nolint:gosec // after noon
			for _, key := range keys {
				if v := attr(s.GetAttributes(), key); v != "" {
					fmt.Fprintf(&b, " %s=%s", key, v)
				}
			}
			if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				b.WriteString(" failed: " + s.GetStatus().GetMessage())
			}
			for _, e := range s.GetEvents() {
				b.WriteString(" (" + e.GetName() + " " + attr(e.GetAttributes(), "error.type") + ")")
			}
			b.WriteString("\n")
			draw(s.GetSpanId(), indent+"  ")
		}
	}
	draw(nil, "")
	return b.String()
}

func attr(list []*commonpb.KeyValue, key string) string {
	for _, kv := range list {
		if kv.GetKey() != key {
			continue
		}
		switch v := kv.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			return v.StringValue
		case *commonpb.AnyValue_ArrayValue:
			var all []string
			for _, item := range v.ArrayValue.GetValues() {
				all = append(all, item.GetStringValue())
			}
			return strings.Join(all, ",")
		case *commonpb.AnyValue_IntValue:
			return fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			return fmt.Sprint(v.BoolValue)
		case *commonpb.AnyValue_DoubleValue:
			return fmt.Sprint(v.DoubleValue)
		}
	}
	return ""
}

func TestSpans(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL, Headers: map[string]string{"X-Team": "a"}}, Version: "1"})
	w.work()
	w.close()
	want := `invoke_agent build 3+19 pawl.turn.reason=end_turn gen_ai.usage.input_tokens=220 gen_ai.usage.cache_read.input_tokens=200 pawl.cost.dollars=0.004
  chat claude-x 4+4 gen_ai.provider.name=anthropic gen_ai.response.model=claude-x gen_ai.response.finish_reasons=tool_use gen_ai.usage.input_tokens=110 gen_ai.usage.cache_read.input_tokens=100 gen_ai.response.time_to_first_chunk=2 pawl.cost.dollars=0.002 (retry rate_limited)
  execute_tool read 9+1 pawl.call.status=done
  execute_tool bash 11+0 pawl.call.status=denied error.type=denied failed: denied
  execute_tool task 12+7 pawl.call.status=done error.type=tool_error failed: tool_error
    invoke_agent 16+2 pawl.turn.reason=error gen_ai.usage.input_tokens=0 error.type=model failed: model
      chat claude-x 17+1 gen_ai.provider.name=anthropic error.type=model failed: model
  chat claude-x 20+1 gen_ai.provider.name=anthropic gen_ai.response.model=gpt-y gen_ai.response.finish_reasons=end_turn gen_ai.usage.input_tokens=110 gen_ai.usage.cache_read.input_tokens=100 pawl.cost.dollars=0.002
`
	got := tree(r.spans, "pawl.turn.reason", "pawl.call.status", "gen_ai.provider.name", "gen_ai.response.model", "gen_ai.response.finish_reasons",
		"gen_ai.usage.input_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.response.time_to_first_chunk", "pawl.cost.dollars", "error.type")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for _, s := range r.spans {
		ids[hex.EncodeToString(s.GetSpanId())] = true
		if diff := cmp.Diff(r.spans[0].GetTraceId(), s.GetTraceId()); diff != "" {
			t.Errorf("%s is in another trace", s.GetName())
		}
		if text := s.String(); strings.Contains(text, "s3cret") || strings.Contains(text, "fix it") || strings.Contains(text, "not permitted") || strings.Contains(text, "is down") {
			t.Errorf("content is sent that nobody wanted: %s", text)
		}
	}
	if len(ids) != len(r.spans) {
		t.Error("two spans have the same id")
	}
	for _, h := range r.headers {
		if h.Get("X-Team") != "a" || h.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("headers %v", h)
		}
	}
}

// Content is sent if the user enables it, and is masked.
func TestContent(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL, Content: true}, Redact: mask})
	w.work()
	w.close()
	got := map[string]string{}
	for _, s := range r.spans {
		if strings.Contains(s.String(), "s3cret") {
			t.Errorf("%s has a secret: %s", s.GetName(), s)
		}
		for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} {
			if v := attr(s.GetAttributes(), key); v != "" {
				got[s.GetName()+" "+attr(s.GetAttributes(), "pawl.turn.steps")+" "+strings.TrimPrefix(key, "gen_ai.")] = v
			}
		}
		for _, e := range s.GetEvents() {
			got[e.GetName()] = attr(e.GetAttributes(), "exception.message")
		}
	}
	want := map[string]string{
		"invoke_agent build 2 input.messages":    `[{"role":"user","parts":[{"type":"text","content":"fix it, the key is [masked]"}]}]`,
		"invoke_agent build 2 output.messages":   `[{"role":"assistant","parts":[{"type":"text","content":"done"}],"finish_reason":"end_turn"}]`,
		"invoke_agent 1 input.messages":          `[{"role":"user","parts":[{"type":"text","content":"look"}]}]`,
		"chat claude-x  output.messages":         `[{"role":"assistant","parts":[{"type":"text","content":"done"}],"finish_reason":"end_turn"}]`,
		"execute_tool read  tool.call.arguments": `{"path":"[masked]"}`,
		"execute_tool read  tool.call.result":    "it has [masked] in it",
		"execute_tool bash  tool.call.arguments": "{}",
		"execute_tool bash  tool.call.result":    "not permitted",
		"execute_tool task  tool.call.arguments": "{}",
		"execute_tool task  tool.call.result":    "the task failed",
		"retry":                                  "slow down, [masked]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Content that cannot be masked is not sent.
func TestContentThatCannotBeMasked(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	fails := func(e pawl.Event) (pawl.Event, error) {
		if _, ok := e.Body.(pawl.CallFinished); ok {
			return e, errors.New("it cannot be masked")
		}
		return mask(e)
	}
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL, Content: true}, Redact: fails})
	w.work()
	w.close()
	all := fmt.Sprint(r.spans)
	if strings.Contains(all, "s3cret") || strings.Contains(all, "the task failed") {
		t.Errorf("unmasked content: %s", all)
	}
	if !strings.Contains(all, "fix it") {
		t.Errorf("the rest is not sent, so nothing is shown: %s", all)
	}
}

// Without a Redact function no content is sent, whatever the settings.
func TestContentNeedsMask(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL, Content: true}})
	w.work()
	w.close()
	for _, s := range r.spans {
		if strings.Contains(s.String(), "fix it") {
			t.Errorf("unmasked content: %s", s)
		}
	}
}

// A turn that started in another process is observed from here on, in the same trace.
func TestResumed(t *testing.T) {
	t.Parallel()
	first, second := newReceiver(t), newReceiver(t)
	a := newEnv(t, Config{Settings: Settings{Endpoint: first.URL}})
	a.work()
	a.close()
	b := newEnv(t, Config{Settings: Settings{Endpoint: second.URL}})
	b.now = noon.Add(100 * time.Second)
	b.memory.heads[session] = 4
	b.write(session, 1,
		pawl.Delta{Reply: 4, Channel: pawl.ChannelText, Text: "I"},
		pawl.Replied{Step: 1, Model: model, Agent: "build", Parts: said("I will"), Finish: pawl.FinishToolUse},
		pawl.CallFinished{Call: "c9", Status: pawl.CallUnknown, Result: toolapi.ErrorResult("unknown")},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2},
	)
	b.close()
	want := `invoke_agent build 101+3 pawl.resumed=true
  chat claude-x 101+1 pawl.resumed=true
  execute_tool unknown 103+0 failed: unknown
`
	if diff := cmp.Diff(want, tree(second.spans, "pawl.resumed")); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"invoke_agent build", "chat claude-x"} {
		x, y := named(first, name), named(second, name)
		if string(x.GetTraceId()) != string(y.GetTraceId()) || string(x.GetSpanId()) != string(y.GetSpanId()) {
			t.Errorf("%s is another in the second process", name)
		}
	}
	for name, m := range second.metrics {
		if strings.HasSuffix(name, ".duration") && !strings.Contains(name, "execute_tool") {
			t.Errorf("a duration is counted that nobody knows: %s", m)
		}
	}
}

func named(r *receiver, name string) *tracepb.Span {
	i := slices.IndexFunc(r.spans, func(s *tracepb.Span) bool { return s.GetName() == name })
	return r.spans[i]
}

// An imported log is skipped: the work was done elsewhere.
func TestImported(t *testing.T) {
	t.Parallel()
	w := newEnv(t, Config{})
	events := []pawl.Event{
		{Body: pawl.SessionCreated{Dir: "/w"}}, {Body: pawl.Prompted{Parts: said("x")}},
		{Turn: 1, Body: pawl.TurnStarted{Prompt: 2}}, {Turn: 1, Body: pawl.TurnFinished{Reason: pawl.ReasonEndTurn}},
	}
	if _, err := w.log.Append(t.Context(), session, 0, events...); err != nil {
		t.Fatal(err)
	}
	if got := w.text(); got != "" {
		t.Errorf("it counts:\n%s", got)
	}
}

// The state is bounded: turns that never end are dropped.
func TestForgotten(t *testing.T) {
	t.Parallel()
	w := newEnv(t, Config{})
	for i := range maxTurns + 10 {
		id := pawl.SessionID(fmt.Sprint("s", i))
		w.write(id, 0, pawl.SessionCreated{Dir: "/w"})
		w.write(id, 1, pawl.TurnStarted{Prompt: 1})
	}
	if n := len(w.watcher.turns); n > maxTurns || n == 0 {
		t.Errorf("%d turns are remembered", n)
	}
}
