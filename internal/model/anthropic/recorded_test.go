package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// recorded returns the streams, of Anthropic and of Vertex.
func recorded(t *testing.T) []modeltest.Exchange {
	t.Helper()
	all := append(modeltest.Cassettes(t, "api.anthropic.com/v1/messages"), modeltest.Cassettes(t, ":streamRawPredict")...)
	return slices.DeleteFunc(all, func(x modeltest.Exchange) bool { return !strings.HasPrefix(x.ContentType, "text/event-stream") })
}

// requestOf is the request that an answer is read by: it forced the answer's call, or not.
func requestOf(x modeltest.Exchange) model.Request {
	if bytes.Contains(x.RequestBody, []byte(`"tool_choice":{"name":`)) {
		return model.Request{Schema: json.RawMessage(`{}`)}
	}
	return model.Request{}
}

// naive is a second, simpler reading of a stream.
type naive struct {
	text, thoughts string
	calls          []string
	usage          map[string]float64
	reason         string
}

func readNaively(t *testing.T, stream []byte) naive {
	t.Helper()
	n := naive{usage: map[string]float64{}}
	inputs := map[float64]string{} // by index of the block
	names := map[float64]string{}
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		str := func(v any, key string) string { s, _ := object(v)[key].(string); return s }
		index, _ := e["index"].(float64)
		if block := e["content_block"]; str(block, "type") == "tool_use" {
			names[index] = str(block, "id") + " " + str(block, "name")
		}
		n.text += str(e["delta"], "text")
		n.thoughts += str(e["delta"], "thinking")
		inputs[index] += str(e["delta"], "partial_json")
		if name := names[index]; e["type"] == "content_block_stop" && name != "" {
			n.calls = append(n.calls, name+" "+inputs[index])
		}
		if reason := str(e["delta"], "stop_reason"); reason != "" {
			n.reason = reason
		}
		for _, u := range []any{object(e["message"])["usage"], e["usage"]} {
			for key, v := range object(u) {
				if count, ok := v.(float64); ok {
					n.usage[key] = count
				}
			}
		}
	}
	return n
}

func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	var streams, calls, thoughts, structured int
	for _, x := range recorded(t) {
		streams++
		req := requestOf(x)
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, x)}, Model: "claude"}
		got, err := modeltest.Read(t.Context(), c, req)
		if err != nil {
			t.Errorf("%s %d: %v", x.File, x.Index, err)
			continue
		}
		want := readNaively(t, x.ResponseBody)
		wantFinish := pawl.Finish(want.reason)
		if req.Schema != nil { // the answer's call is the text
			structured++
			_, input, _ := strings.Cut(want.calls[0], " {")
			want.text, want.calls, wantFinish = "{"+input, nil, pawl.FinishEndTurn
		}
		if got.Parts.Text() != want.text || got.Reasoning() != want.thoughts {
			t.Errorf("%s %d: text %q and thoughts %q, want %q and %q", x.File, x.Index, got.Parts.Text(), got.Reasoning(), want.text, want.thoughts)
		}
		var gotCalls []string
		for _, call := range got.Parts.Calls() {
			gotCalls = append(gotCalls, fmt.Sprintf("%s %s %s", call.ID, call.Name, call.Input))
		}
		if diff := gocmp.Diff(want.calls, gotCalls); diff != "" {
			t.Errorf("%s %d: calls (-want +got):\n%s", x.File, x.Index, diff)
		}
		wantUsage := pawl.Usage{
			Input: int64(want.usage["input_tokens"]), Output: int64(want.usage["output_tokens"]),
			CacheRead: int64(want.usage["cache_read_input_tokens"]), CacheWrite: int64(want.usage["cache_creation_input_tokens"]),
		}
		if got.Usage != wantUsage || got.Finish != wantFinish {
			t.Errorf("%s %d: %+v %s, want %+v %s", x.File, x.Index, got.Usage, got.Finish, wantUsage, wantFinish)
		}
		calls += len(gotCalls)
		if want.thoughts != "" {
			thoughts++
		}
	}
	t.Logf("streams: %d of %d: %d calls, %d with thoughts, %d structured", modeltest.Passed(t, streams), streams, calls, thoughts, structured)
}

func TestRecordedStreamsInPieces(t *testing.T) {
	t.Parallel()
	all := recorded(t)
	read := func(x modeltest.Exchange, at int) modeltest.Reply {
		cut := &http.Client{Transport: modeltest.Cut{Exchange: x, At: at}}
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: "http://recorded", Client: cut}, Model: "claude"}
		got, err := modeltest.Read(t.Context(), c, requestOf(x))
		if err != nil {
			t.Fatalf("%s %d cut at %d: %v", x.File, x.Index, at, err)
		}
		return got
	}
	whole := func(x modeltest.Exchange) modeltest.Reply { return read(x, len(x.ResponseBody)) }
	for _, x := range all {
		if diff := gocmp.Diff(whole(x), read(x, 0)); diff != "" {
			t.Errorf("%s %d byte by byte (-whole +bytes):\n%s", x.File, x.Index, diff)
		}
	}
	slices.SortFunc(all, func(a, b modeltest.Exchange) int { return cmp.Compare(len(a.ResponseBody), len(b.ResponseBody)) })
	cuts := 0
	for _, x := range all[:5] {
		want := whole(x)
		for at := 1; at < len(x.ResponseBody); at++ {
			cuts++
			if got := read(x, at); !reflect.DeepEqual(want, got) { // a diff of each takes seconds
				t.Fatalf("%s %d cut at %d: got %+v, want %+v", x.File, x.Index, at, got, want)
			}
		}
	}
	t.Logf("%d streams byte by byte, 5 streams at %d cuts", len(all), cuts)
}

// A stream that stops before message_stop is not a reply, wherever it stops.
func TestRecordedStreamBrokenOff(t *testing.T) {
	t.Parallel()
	for _, x := range recorded(t)[:5] {
		last := bytes.LastIndex(x.ResponseBody, []byte("data: "))
		for _, end := range []int{0, last / 2, last, last + 10} {
			cut := x
			cut.ResponseBody = x.ResponseBody[:end]
			c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, cut)}, Model: "claude"}
			if got, err := modeltest.Read(t.Context(), c, requestOf(x)); err == nil {
				t.Errorf("%s %d, %d of %d bytes: read as a whole reply %+v", x.File, x.Index, end, len(x.ResponseBody), got)
			}
		}
	}
}

// TestNextRequest compares what the recorded client sent back with what ours
// would send for the reply as it read it.
func TestNextRequest(t *testing.T) {
	t.Parallel()
	all, compared := recorded(t), 0
	for i, x := range all {
		if i+1 == len(all) || all[i+1].File != x.File {
			continue
		}
		compared++
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, x)}, Model: "claude"}
		reply, err := modeltest.Read(t.Context(), c, model.Request{})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Messages []struct{ Content []map[string]any }
		}
		if err := json.Unmarshal(all[i+1].RequestBody, &sent); err != nil {
			t.Fatal(err)
		}
		ours := messages([]pawl.Message{modeltest.Answer(reply.Parts...)})
		raw, err := json.Marshal(ours[0].Content)
		if err != nil {
			t.Fatal(err)
		}
		var got []map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		want := common(sent.Messages[len(sent.Messages)-2].Content)
		if strings.HasPrefix(x.File, "TestAnthropicComputerUse/") { // its client sent the calls only
			got = slices.DeleteFunc(got, func(b map[string]any) bool { return b["type"] == "text" })
		}
		if diff := gocmp.Diff(want, common(got)); diff != "" {
			t.Errorf("%s %d (-recorded +ours):\n%s", x.File, x.Index, diff)
		}
	}
	t.Logf("%d next requests compared", compared)
}

// common leaves what both clients send: no cache marks, none of the provider
// own tools, and neighboring texts in one, for citations cut them.
func common(content []map[string]any) []map[string]any {
	var out []map[string]any
	for _, b := range content {
		delete(b, "cache_control")
		delete(b, "citations")
		n := len(out)
		switch kind := b["type"]; {
		case kind == "server_tool_use", kind == "web_search_tool_result":
		case kind == "text" && n > 0 && out[n-1]["type"] == "text":
			out[n-1]["text"] = fmt.Sprint(out[n-1]["text"], b["text"])
		default:
			out = append(out, b)
		}
	}
	return out
}
