package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"path"
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

// recorded returns the streams, of the Gemini API and of Vertex.
func recorded(t *testing.T) []modeltest.Exchange {
	t.Helper()
	return modeltest.Cassettes(t, ":streamGenerateContent")
}

func modelOf(x modeltest.Exchange) string {
	model, _, _ := strings.Cut(path.Base(x.URL), ":")
	return model
}

// naive is a second, simpler reading of a stream.
type naive struct {
	text, thoughts string
	calls          []pawl.ToolCall
	usage          pawl.Usage
}

func readNaively(t *testing.T, stream []byte) naive {
	t.Helper()
	var n naive
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		if u, ok := e["usageMetadata"].(map[string]any); ok {
			count := func(key string) int64 { f, _ := u[key].(float64); return int64(f) }
			n.usage = pawl.Usage{
				Input:     count("promptTokenCount") - count("cachedContentTokenCount"),
				CacheRead: count("cachedContentTokenCount"),
				Output:    count("totalTokenCount") - count("promptTokenCount"),
				Reasoning: count("thoughtsTokenCount"),
			}
		}
		for _, c := range list(e["candidates"]) {
			content, _ := object(c)["content"].(map[string]any)
			for _, p := range list(content["parts"]) {
				n.part(t, object(p))
			}
		}
	}
	return n
}

func (n *naive) part(t *testing.T, p map[string]any) {
	t.Helper()
	text, _ := p["text"].(string)
	if p["thought"] == true {
		n.thoughts += text
	} else {
		n.text += text
	}
	if c, ok := p["functionCall"].(map[string]any); ok {
		args, err := json.Marshal(c["args"])
		if err != nil {
			t.Fatal(err)
		}
		id, _ := c["id"].(string)
		n.calls = append(n.calls, pawl.ToolCall{ID: pawl.CallID(id), Name: c["name"].(string), Input: args})
	}
}

func list(v any) []any            { l, _ := v.([]any); return l }
func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

// canonical writes JSON with its keys sorted.
func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	var streams, calls, thoughts, signatures int
	for _, x := range recorded(t) {
		streams++
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, x)}, Model: modelOf(x), Levels: strings.HasPrefix(modelOf(x), "gemini-3")}
		got, err := modeltest.Read(t.Context(), c, model.Request{})
		if err != nil {
			t.Errorf("%s %d: %v", x.File, x.Index, err)
			continue
		}
		want := readNaively(t, x.ResponseBody)
		if got.Parts.Text() != want.text || got.Reasoning() != want.thoughts {
			t.Errorf("%s %d: text %q and thoughts %q, want %q and %q", x.File, x.Index, got.Parts.Text(), got.Reasoning(), want.text, want.thoughts)
		}
		if got.Usage != want.usage {
			t.Errorf("%s %d: usage %+v, want %+v", x.File, x.Index, got.Usage, want.usage)
		}
		plain := got.Parts.Calls()
		for i := range plain {
			plain[i].Signature = ""
			plain[i].Input = json.RawMessage(canonical(t, plain[i].Input))
		}
		if diff := gocmp.Diff(want.calls, plain); diff != "" {
			t.Errorf("%s %d: calls (-want +got):\n%s", x.File, x.Index, diff)
		}
		wantFinish := pawl.FinishEndTurn
		if len(want.calls) > 0 {
			wantFinish = pawl.FinishToolUse
		}
		if got.Finish != wantFinish {
			t.Errorf("%s %d: finish %s, want %s", x.File, x.Index, got.Finish, wantFinish)
		}
		calls += len(plain)
		if want.thoughts != "" {
			thoughts++
		}
		signatures += bytes.Count(x.ResponseBody, []byte(`"thoughtSignature"`))
	}
	t.Logf("streams: %d of %d: %d calls, %d with thoughts, %d signatures", modeltest.Passed(t, streams), streams, calls, thoughts, signatures)
}

func TestRecordedStreamsInPieces(t *testing.T) {
	t.Parallel()
	all := recorded(t)
	read := func(x modeltest.Exchange, at int) modeltest.Reply {
		c := &Client{Endpoint: protocol.Endpoint{Client: &http.Client{Transport: modeltest.Cut{Exchange: x, At: at}}}, Model: modelOf(x), Levels: strings.HasPrefix(modelOf(x), "gemini-3")}
		c.BaseURL = "http://recorded"
		got, err := modeltest.Read(t.Context(), c, model.Request{})
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

// A stream that stops before its finish is not a reply.
func TestRecordedStreamBrokenOff(t *testing.T) {
	t.Parallel()
	for _, x := range recorded(t)[:5] {
		last := bytes.LastIndex(x.ResponseBody, []byte("data: "))
		for _, end := range []int{0, last, last + 40, len(x.ResponseBody) - 5} {
			cut := x
			cut.ResponseBody = x.ResponseBody[:end]
			c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, cut)}, Model: modelOf(x), Levels: strings.HasPrefix(modelOf(x), "gemini-3")}
			if got, err := modeltest.Read(t.Context(), c, model.Request{}); err == nil {
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
		c := &Client{Endpoint: protocol.Endpoint{BaseURL: modeltest.Serve(t, x)}, Model: modelOf(x), Levels: strings.HasPrefix(modelOf(x), "gemini-3")}
		reply, err := modeltest.Read(t.Context(), c, model.Request{})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Contents []content }
		if err := json.Unmarshal(recordedResult(all[i+1].RequestBody), &sent); err != nil {
			t.Fatal(err)
		}
		want := sent.Contents[len(sent.Contents)-2:]
		results := modeltest.Results()
		for j, p := range want[1].Parts {
			results.Parts = append(results.Parts, pawl.ToolResult{Call: pawl.CallID(rune('a' + j)), Content: *p.Response.Result.Output})
		}
		n := 0
		for j, p := range reply.Parts {
			if call, ok := p.(pawl.ToolCall); ok { // the log has ids of its own
				call.ID = pawl.CallID(rune('a' + n))
				reply.Parts[j] = call
				n++
			}
		}
		got := c.contents([]pawl.Message{modeltest.Answer(reply.Parts...), results})
		if diff := gocmp.Diff(plain(t, want), plain(t, got)); diff != "" {
			t.Errorf("%s %d (-recorded +ours):\n%s", x.File, x.Index, diff)
		}
	}
	t.Logf("%d next requests compared", compared)
}

// recordedResult names the key of a result as we do.
func recordedResult(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`"response":{"result":`), []byte(`"response":{"output":`))
}

// plain writes contents with their keys sorted. The recorded client made ids up
// where the provider gave none: those are left out.
func plain(t *testing.T, contents []content) string {
	t.Helper()
	for _, c := range contents {
		for _, p := range c.Parts {
			if p.Call != nil && len(p.Call.ID) != len("8hd01vsf") {
				p.Call.ID = ""
			}
			if p.Response != nil && len(p.Response.ID) != len("8hd01vsf") {
				p.Response.ID = ""
			}
		}
	}
	raw, err := json.Marshal(contents)
	if err != nil {
		t.Fatal(err)
	}
	return canonical(t, raw)
}
