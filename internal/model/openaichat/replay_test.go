package openaichat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var streams []modeltest.Exchange

// recorded returns the recorded streams of the protocol, which are read once.
func recorded(t testing.TB) []modeltest.Exchange {
	if streams != nil {
		return streams
	}
	for _, e := range modeltest.Cassettes(t, "/chat/completions") {
		if strings.HasPrefix(e.ContentType, "text/event-stream") {
			streams = append(streams, e)
		}
	}
	return streams
}

// dialectOf returns the dialect of a recording's provider.
func dialectOf(e modeltest.Exchange) Dialect {
	for part, provider := range map[string]string{
		"openrouter.ai": "openrouter", "vercel.sh": "vercel", "azure.com": "azure", "api.openai.com": "openai",
		"api.x.ai": "xai", "groq.com": "groq", "z.ai": "zai", "huggingface.co": "huggingface", "localhost": "llamacpp",
	} {
		if strings.Contains(e.URL, part) {
			return Dialects[provider]
		}
	}
	return Dialect{}
}

// serve answers every request with the pieces of a body, each on its own.
func serve(t testing.TB, pieces ...[]byte) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			_, _ = w.Write(p) // the client may have had enough
			if len(pieces) > 1 {
				w.(http.Flusher).Flush()
			}
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func collect(t testing.TB, c *Client) ([]model.Chunk, error) {
	var chunks []model.Chunk
	for chunk, err := range c.Stream(t.Context(), model.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "hi"}}}}}) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// replay runs a stream through a client, byte for byte.
func replay(t testing.TB, d Dialect, pieces ...[]byte) ([]model.Chunk, error) {
	server := serve(t, pieces...)
	defer server.Close()
	return collect(t, &Client{Endpoint: protocol.Endpoint{BaseURL: server.URL}, Model: "m", Dialect: d})
}

// naive is a reading of a stream that shares nothing with the decoder's.
type naive struct {
	text, thought string
	calls         map[string]string // arguments by index
	usage         map[string]any
}

func readNaively(t *testing.T, body []byte) naive {
	t.Helper()
	n := naive{calls: map[string]string{}}
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if u, ok := event["usage"].(map[string]any); ok {
			n.usage = u
		}
		choices, _ := event["choices"].([]any)
		for _, c := range choices {
			n.add(c.(map[string]any)["delta"].(map[string]any))
		}
	}
	return n
}

func (n *naive) add(delta map[string]any) {
	text := func(m map[string]any, key string) string { s, _ := m[key].(string); return s }
	n.text += text(delta, "content")
	if s := text(delta, "reasoning"); s != "" {
		n.thought += s
	} else {
		n.thought += text(delta, "reasoning_content")
	}
	calls, _ := delta["tool_calls"].([]any)
	for _, c := range calls {
		call := c.(map[string]any)
		n.calls[fmt.Sprint(call["index"])] += text(call["function"].(map[string]any), "arguments")
	}
}

func (n *naive) number(path ...string) int64 {
	at := n.usage
	for _, key := range path[:len(path)-1] {
		at, _ = at[key].(map[string]any)
	}
	f, _ := at[path[len(path)-1]].(float64)
	return int64(f)
}

func TestRecordedStreams(t *testing.T) { //nolint:paralleltest // it changes streams
	streams := recorded(t)
	passed, signed := 0, 0
	for _, e := range streams {
		ok := t.Run(fmt.Sprintf("%s#%d", e.File, e.Index), func(t *testing.T) {
			chunks, err := replay(t, dialectOf(e), e.ResponseBody)
			if err != nil {
				t.Fatal(err)
			}
			signed += checkReply(t, chunks, readNaively(t, e.ResponseBody))
		})
		if ok {
			passed++
		}
	}
	t.Logf("streams: %d of %d: %d sealed thoughts", passed, len(streams), signed)
}

// checkReply holds a reply against the naive reading and returns how many
// thoughts were sealed.
func checkReply(t *testing.T, chunks []model.Chunk, want naive) (signed int) {
	t.Helper()
	var text, thought string
	var calls []pawl.ToolCall
	var usage pawl.Usage
	finishes := 0
	for i, c := range chunks {
		switch c.Kind {
		case model.ChunkText:
			text += c.Text
		case model.ChunkReasoning:
			thought += c.Text
			if c.Signature != "" {
				signed++
				if len(sealedDetails(pawl.Reasoning{Signature: c.Signature})) == 0 {
					t.Errorf("the seal is no list of details: %s", c.Signature)
				}
			}
		case model.ChunkCall:
			calls = append(calls, c.Call)
		case model.ChunkUsage:
			usage = c.Usage
		case model.ChunkFinish:
			finishes++
			if i != len(chunks)-1 {
				t.Error("a chunk after the finish")
			}
		case model.ChunkRetry:
			t.Error("a client does not retry")
		}
	}
	if finishes != 1 {
		t.Errorf("%d finishes", finishes)
	}
	if text == "" && len(calls) == 0 {
		t.Error("neither text nor calls")
	}
	if diff := cmp.Diff(want.text, text); diff != "" {
		t.Errorf("text: %s", diff)
	}
	if diff := cmp.Diff(want.thought, thought); diff != "" {
		t.Errorf("reasoning: %s", diff)
	}
	checkCalls(t, calls, want)
	checkUsage(t, usage, want)
	return signed
}

func checkCalls(t *testing.T, calls []pawl.ToolCall, want naive) {
	t.Helper()
	if len(calls) != len(want.calls) {
		t.Errorf("%d calls, want %d", len(calls), len(want.calls))
	}
	for i, c := range calls {
		if !json.Valid(c.Input) || c.Name == "" || c.ID == "" {
			t.Errorf("call %d is not whole: %+v", i, c)
		}
		if args := want.calls[fmt.Sprint(i)]; args != "" && args != string(c.Input) {
			t.Errorf("call %d: %s, want %s", i, c.Input, args)
		}
	}
}

func checkUsage(t *testing.T, got pawl.Usage, want naive) {
	t.Helper()
	if want.usage == nil {
		t.Error("no usage in the recording")
	}
	if prompt := want.number("prompt_tokens"); got.Input+got.CacheRead+got.CacheWrite != prompt {
		t.Errorf("usage %+v, want a prompt of %d", got, prompt)
	}
	if cached := want.number("prompt_tokens_details", "cached_tokens"); got.CacheRead != cached {
		t.Errorf("usage %+v, want %d from the cache", got, cached)
	}
	reasoning, completion := want.number("completion_tokens_details", "reasoning_tokens"), want.number("completion_tokens")
	if got.Reasoning != reasoning || got.Output < reasoning {
		t.Errorf("usage %+v, want %d for reasoning", got, reasoning)
	}
	if got.Output != completion && got.Output != completion+reasoning {
		t.Errorf("usage %+v, want %d written", got, completion)
	}
}

// TestRecutStreams cuts streams in two at every event's end, and within the events.
func TestRecutStreams(t *testing.T) { //nolint:paralleltest // it changes streams
	streams := recorded(t)
	for i := range 5 {
		e := streams[i*len(streams)/5]
		t.Run(e.File, func(t *testing.T) {
			want, err := replay(t, dialectOf(e), e.ResponseBody)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range cuts(e.ResponseBody) {
				got, err := replay(t, dialectOf(e), e.ResponseBody[:at], e.ResponseBody[at:])
				if err != nil {
					t.Fatalf("cut at %d: %v", at, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("cut at %d: %s", at, diff)
				}
			}
		})
	}
}

// cuts returns the places around each event's end and in its middle.
func cuts(body []byte) []int {
	var places []int
	for at := 0; ; {
		n := bytes.Index(body[at:], []byte("\n\n"))
		if n < 0 {
			return places
		}
		places = append(places, at+n/2, at+n, at+n+1, at+n+2)
		at += n + 2
	}
}

// TestBrokenStreams ends streams at every event: only one that has its finish
// reason is whole.
func TestBrokenStreams(t *testing.T) { //nolint:paralleltest // it changes streams
	e := recorded(t)[0]
	for _, at := range cuts(e.ResponseBody) {
		cut := e.ResponseBody[:at]
		_, err := replay(t, dialectOf(e), cut)
		ended := bytes.Contains(cut[:bytes.LastIndexByte(cut, '\n')+1], []byte(`"finish_reason":"`))
		var failure *model.ProviderError
		if ended != (err == nil) || err != nil && !errors.As(err, &failure) {
			t.Errorf("cut at %d of %d: %v", at, len(e.ResponseBody), err)
		}
	}
}
