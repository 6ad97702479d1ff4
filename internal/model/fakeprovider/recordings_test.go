package fakeprovider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

const (
	answers    = `{"text":"a b c","deltas":3}`
	thinks     = `{"reasoning":"a b c","calls":[{"name":"weather","input":{"location":"Florence"}}],"deltas":3}`
	thinksOnly = `{"reasoning":"a b c","text":"a b c","deltas":3}`
	callsTwo   = `{"calls":[{"name":"add","input":{"a":1,"b":2}},{"name":"multiply","input":{"a":1,"b":2}}],"deltas":3}`
)

// What the recorded requests went to.
const (
	messagesURL  = "api.anthropic.com/v1/messages"
	chatURL      = "/chat/completions"
	responsesURL = "api.openai.com/v1/responses"
	geminiURL    = "generativelanguage.googleapis.com/v1beta/models/"
)

var recordings sync.Map // by URL: reading them takes longer than all tests

func recorded(t *testing.T, url string) []modeltest.Exchange {
	t.Helper()
	if all, ok := recordings.Load(url); ok {
		return all.([]modeltest.Exchange)
	}
	all := modeltest.Cassettes(t, url)
	recordings.Store(url, all)
	return all
}

// Our streams have the events of the recorded ones, in their order, and no key
// that was never recorded of the like.
func TestShape(t *testing.T) {
	t.Parallel()
	tests := []struct {
		protocol fakeprovider.Protocol
		url      string
		file     string
		index    int
		line     string
		extra    string // an event that only ours has: the recorded model kept its thoughts to itself
	}{
		{fakeprovider.Messages, messagesURL, "TestAnthropicThinking/claude-sonnet-4/thinking-streaming.yaml", 0, thinks, ""},
		{fakeprovider.Messages, messagesURL, "TestAnthropicThinking/claude-sonnet-4/thinking-streaming.yaml", 1, answers, ""},
		{fakeprovider.Chat, chatURL, "TestOpenAICommon/openai-gpt-4o/multi_tool_streaming.yaml", 0, callsTwo, ""},
		{fakeprovider.Chat, chatURL, "TestOpenAICommon/openai-gpt-4o/multi_tool_streaming.yaml", 1, answers, ""},
		{fakeprovider.Responses, responsesURL, "TestOpenAIResponsesWithSummaryThinking/openai-gpt-5/thinking-streaming.yaml", 0, thinks, ""},
		{fakeprovider.Responses, responsesURL, "TestOpenAIResponsesCommon/openai-gpt-4o/simple_streaming.yaml", 0, answers, ""},
		{fakeprovider.Gemini, geminiURL, "TestGoogleThinking/gemini-3-pro-preview/thinking-streaming.yaml", 0, thinks, "thought text"},
		{fakeprovider.Gemini, geminiURL, "TestGoogleThinking/gemini-3-pro-preview/thinking-streaming.yaml", 1, thinksOnly, "thought text"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.file, " ", tt.index), func(t *testing.T) {
			all := recorded(t, tt.url)
			real := find(t, all, tt.file, tt.index)
			srv := modeltest.StartFake(t, fakeprovider.Config{}, tt.line)
			r := post(t.Context(), srv.URL, tt.protocol, history{}.body(tt.protocol))
			want, got := shapes(t, string(real.ResponseBody)), shapes(t, r.body)
			if diff := cmp.Diff(names(want), names(got, tt.extra)); diff != "" {
				t.Errorf("other events than were recorded: %s", diff)
			}
			keys := map[string]bool{}
			for _, x := range all {
				if strings.HasPrefix(x.ContentType, "text/event-stream") && path.Dir(path.Dir(x.File)) == path.Dir(path.Dir(tt.file)) {
					for _, s := range shapes(t, string(x.ResponseBody)) {
						maps.Copy(keys, s.keys)
					}
				}
			}
			for _, s := range got {
				for k := range s.keys {
					if !keys[k] {
						t.Errorf("%s has %s, which was never recorded", s.name, k)
					}
				}
			}
		})
	}
}

func find(t *testing.T, all []modeltest.Exchange, file string, index int) modeltest.Exchange {
	t.Helper()
	for _, x := range all {
		if x.File == file && x.Index == index {
			return x
		}
	}
	t.Fatalf("no recording %s, %d", file, index)
	return modeltest.Exchange{}
}

// shape is what an event is made of.
type shape struct {
	name string
	keys map[string]bool
}

func shapes(t *testing.T, stream string) []shape {
	t.Helper()
	var out []shape
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			out = append(out, shape{name: data})
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		s := shape{keys: map[string]bool{}}
		s.walk("", v)
		s.name = kindOf(v, s.keys)
		out = append(out, s)
	}
	return out
}

// walk collects the paths of the keys. What a tool takes is the tool's business.
func (s shape) walk(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			p := path + "." + k
			s.keys[p] = true
			if k != "args" {
				s.walk(p, x)
			}
		}
	case []any:
		for _, x := range v {
			s.walk(path+"[]", x)
		}
	}
}

// kindOf tells events apart: by their type, or by what they hold.
func kindOf(v map[string]any, keys map[string]bool) string {
	if name, ok := v["type"].(string); ok {
		for _, inner := range []string{"content_block", "delta", "item", "part"} {
			if m, ok := v[inner].(map[string]any); ok && m["type"] != nil {
				name += " " + fmt.Sprint(m["type"])
			}
		}
		return name
	}
	var held []string
	for _, k := range []string{
		".choices[].delta.role", ".choices[].delta.content", ".choices[].delta.tool_calls[].id", ".choices[].delta.tool_calls", ".usage.total_tokens",
		".candidates[].content.parts[].thought", ".candidates[].content.parts[].text", ".candidates[].content.parts[].functionCall",
		".candidates[].content.parts[].thoughtSignature", ".candidates[].finishReason",
	} {
		if keys[k] {
			held = append(held, k[strings.LastIndex(k, ".")+1:])
		}
	}
	if len(held) == 0 {
		return "finish"
	}
	return strings.Join(held, " ")
}

// names are the names of the shapes, without pings, which come when they like,
// and without those to leave out. The same in a row counts once.
func names(list []shape, without ...string) []string {
	var out []string
	for _, s := range list {
		if s.name != "ping" && !slices.Contains(without, s.name) {
			out = append(out, s.name)
		}
	}
	return slices.Compact(out)
}

// What a real provider took, ours takes: the checks refuse nothing that was
// recorded, but for signatures, which are not ours.
func TestRecordedRequests(t *testing.T) {
	t.Parallel()
	lines := slices.Repeat([]string{`{"text":"fine"}`}, 9)
	for _, tt := range []struct {
		protocol fakeprovider.Protocol
		url      string
	}{
		{fakeprovider.Messages, messagesURL},
		{fakeprovider.Chat, chatURL},
		{fakeprovider.Responses, responsesURL},
		{fakeprovider.Gemini, geminiURL},
	} {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, lines...)
		taken, signed := 0, 0
		for _, x := range recorded(t, tt.url) {
			to := paths[tt.protocol]
			if tt.protocol == fakeprovider.Gemini {
				_, to, _ = strings.Cut(x.URL, "googleapis.com")
			}
			r := send(t.Context(), srv.URL+to, string(x.RequestBody))
			switch {
			case r.status == http.StatusOK:
				taken++
			case strings.Contains(r.body, "signature"):
				signed++
			default:
				t.Errorf("%s %d: %d %s\n%.3000s", x.File, x.Index, r.status, r.message(t), x.RequestBody)
			}
		}
		t.Logf("%s: %d taken, %d with a signature of the provider's", tt.protocol, taken, signed)
		if taken == 0 {
			t.Errorf("%s: nothing was taken", tt.protocol)
		}
	}
}
