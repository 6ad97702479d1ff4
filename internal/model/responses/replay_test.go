package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// recorded returns the recorded streams of the protocol.
func recorded(t *testing.T) []modeltest.Exchange {
	t.Helper()
	streams := slices.DeleteFunc(modeltest.Cassettes(t, "/responses"), func(x modeltest.Exchange) bool {
		return !strings.HasPrefix(x.ContentType, "text/event-stream")
	})
	if len(streams) == 0 {
		t.Fatal("no recorded stream")
	}
	return streams
}

// read streams a reply to its end.
func read(t *testing.T, c *Client) ([]model.Chunk, error) {
	t.Helper()
	var chunks []model.Chunk
	for chunk, err := range c.Stream(t.Context(), model.Request{Session: session}) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// fold puts a reply together as the loop does.
func fold(chunks []model.Chunk) pawl.Parts {
	var parts pawl.Parts
	var text, thought string
	closeText := func() {
		if text != "" {
			parts, text = append(parts, pawl.Text{Text: text}), ""
		}
	}
	closeThought := func(signature string) {
		if thought != "" || signature != "" {
			parts, thought = append(parts, pawl.Reasoning{Text: thought, Signature: signature}), ""
		}
	}
	for _, c := range chunks {
		switch c.Kind {
		case model.ChunkText:
			closeThought("")
			text += c.Text
		case model.ChunkReasoning:
			closeText()
			thought += c.Text
			if c.Signature != "" {
				closeThought(c.Signature)
			}
		case model.ChunkCall:
			closeText()
			closeThought("")
			parts = append(parts, c.Call)
		}
	}
	closeText()
	closeThought("")
	return parts
}

// raw is a recorded stream, read in the simplest way.
type raw struct {
	text   string
	items  []map[string]any // that are done
	usage  pawl.Usage
	called bool
}

func readRaw(t *testing.T, stream []byte) raw {
	t.Helper()
	var r raw
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type     string
			Delta    any
			Item     map[string]any
			Response struct {
				Usage struct {
					Input   int64            `json:"input_tokens"`
					Output  int64            `json:"output_tokens"`
					Read    map[string]int64 `json:"input_tokens_details"`
					Written map[string]int64 `json:"output_tokens_details"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "response.output_text.delta":
			r.text += e.Delta.(string)
		case "response.output_item.done":
			r.items = append(r.items, e.Item)
			r.called = r.called || e.Item["type"] == "function_call"
		case "response.completed":
			u := e.Response.Usage
			cached := u.Read["cached_tokens"]
			r.usage = pawl.Usage{Input: u.Input - cached, CacheRead: cached, Output: u.Output, Reasoning: u.Written["reasoning_tokens"]}
		}
	}
	return r
}

// thoughts returns the summaries of the reasoning items.
func (r raw) thoughts() string {
	var all string
	for _, it := range r.items {
		var parts []string
		summary, _ := it["summary"].([]any)
		for _, s := range summary {
			parts = append(parts, s.(map[string]any)["text"].(string))
		}
		all += strings.Join(parts, "\n\n")
	}
	return all
}

// The recorded streams, byte for byte over HTTP.
func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	streams, calls, thoughts := recorded(t), 0, 0
	for _, x := range streams {
		var got http.Request
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = *r
			w.Header().Set("Content-Type", x.ContentType)
			_, _ = w.Write(x.ResponseBody)
		}))
		c := &Client{Model: "gpt-5", Endpoint: protocol.Endpoint{BaseURL: srv.URL + "/v1", Header: http.Header{"Authorization": {"Bearer key"}}}}
		chunks, err := read(t, c)
		srv.Close()
		if err != nil {
			t.Errorf("%s %d: %v", x.File, x.Index, err)
			continue
		}
		if got.Method != http.MethodPost || got.URL.Path != "/v1/responses" || got.Header.Get("Authorization") != "Bearer key" {
			t.Errorf("asked %s %s with %v", got.Method, got.URL, got.Header)
		}
		want := readRaw(t, x.ResponseBody)
		parts := fold(chunks)
		checkEnd(t, x, chunks, want)
		if got := parts.Text(); got != want.text {
			t.Errorf("%s %d: text %q, want %q", x.File, x.Index, got, want.text)
		}
		var thought string
		for _, p := range parts {
			if r, ok := p.(pawl.Reasoning); ok {
				thought += r.Text
				thoughts++
			}
		}
		if thought != want.thoughts() {
			t.Errorf("%s %d: thought %q, want %q", x.File, x.Index, thought, want.thoughts())
		}
		for _, call := range parts.Calls() {
			calls++
			if !json.Valid(call.Input) || call.ID == "" {
				t.Errorf("%s %d: call %q with input %s", x.File, x.Index, call.ID, call.Input)
			}
		}
		checkItems(t, x, items([]pawl.Message{{Role: pawl.RoleAssistant, Parts: parts}}), want)
	}
	t.Logf("streams: %d of %d: %d calls and %d thoughts", modeltest.Passed(t, len(streams)), len(streams), calls, thoughts)
}

// checkEnd wants one finish, at the end, and the usage before it.
func checkEnd(t *testing.T, x modeltest.Exchange, chunks []model.Chunk, want raw) {
	t.Helper()
	finish := pawl.FinishEndTurn
	if want.called {
		finish = pawl.FinishToolUse
	}
	end := []model.Chunk{{Kind: model.ChunkUsage, Usage: want.usage}, {Kind: model.ChunkFinish, Finish: finish}}
	n := max(len(chunks)-2, 0)
	if diff := cmp.Diff(end, chunks[n:]); diff != "" {
		t.Errorf("%s %d: end: %s", x.File, x.Index, diff)
	}
	for _, c := range chunks[:n] {
		if c.Kind == model.ChunkFinish || c.Kind == model.ChunkUsage {
			t.Errorf("%s %d: a second %v", x.File, x.Index, c)
		}
	}
}

// checkItems wants the items that go back to be those that came, in order.
func checkItems(t *testing.T, x modeltest.Exchange, sent []any, want raw) {
	t.Helper()
	var came []map[string]any
	for _, it := range want.items {
		if it["type"] == "reasoning" && it["encrypted_content"] == nil || it["type"] == "web_search_call" {
			continue // without its content the provider does not know it; and its own tools are its own
		}
		came = append(came, it)
	}
	checkOverlap(t, x, decoded(t, sent), came)
}

// decoded is the items as JSON has them.
func decoded(t *testing.T, list []any) []map[string]any {
	t.Helper()
	text, err := protocol.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkOverlap wants the same values in the fields that go back.
func checkOverlap(t *testing.T, x modeltest.Exchange, got, want []map[string]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s %d: %d items, want %d: %v", x.File, x.Index, len(got), len(want), got)
		return
	}
	for i := range want {
		for key, value := range want[i] {
			if key == "content" || key == "status" || key == "id" && want[i]["type"] != "reasoning" {
				continue // the text is compared whole elsewhere; the others need not go back
			}
			if diff := cmp.Diff(value, got[i][key]); diff != "" {
				t.Errorf("%s %d: %s of item %d: %s", x.File, x.Index, key, i, diff)
			}
		}
	}
}

// What the recorded client sent back is what we would send for the reply as we
// read it. It kept no thoughts, so those are compared with the stream above.
func TestReplaySendsBack(t *testing.T) {
	t.Parallel()
	streams, pairs := recorded(t), 0
	for i, x := range streams[:len(streams)-1] {
		next := streams[i+1]
		if next.File != x.File {
			continue
		}
		before, after := inputOf(t, x), inputOf(t, next)
		var want []map[string]any
		for _, it := range after[len(before):] {
			if it["type"] != "function_call_output" {
				want = append(want, it)
			}
		}
		chunks, err := read(t, replaying(bytes.NewReader(x.ResponseBody)))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(decoded(t, items([]pawl.Message{{Role: pawl.RoleAssistant, Parts: fold(chunks)}})),
			func(it map[string]any) bool { return it["type"] == "reasoning" })
		checkOverlap(t, next, got, want)
		pairs++
	}
	if pairs == 0 {
		t.Fatal("no cassette with two streams")
	}
	t.Logf("%d replies are sent back as they were", pairs)
}

func inputOf(t *testing.T, x modeltest.Exchange) []map[string]any {
	t.Helper()
	var req struct{ Input []map[string]any }
	if err := json.Unmarshal(x.RequestBody, &req); err != nil {
		t.Fatal(err)
	}
	return req.Input
}

// transport answers each request with the same stream.
type transport func() io.Reader

func (f transport) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(f())}, nil
}

// replaying is a client that is answered with a stream.
func replaying(stream io.Reader) *Client {
	return &Client{Endpoint: protocol.Endpoint{
		BaseURL: "http://provider.invalid",
		Client:  &http.Client{Transport: transport(func() io.Reader { return stream })},
	}}
}

// pieces gives a stream out piece by piece: up to where end says, from an offset on.
type pieces struct {
	stream []byte
	at     int
	end    func(from int) int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.at == len(p.stream) {
		return 0, io.EOF
	}
	n := copy(b, p.stream[p.at:min(p.end(p.at), len(p.stream))])
	p.at += n
	return n, nil
}

// However the network cuts a stream, the chunks are the same.
func TestReplayCut(t *testing.T) {
	t.Parallel()
	streams := recorded(t)
	slices.SortStableFunc(streams, func(a, b modeltest.Exchange) int { return len(a.ResponseBody) - len(b.ResponseBody) })
	n := len(streams)
	for _, x := range []modeltest.Exchange{streams[0], streams[n/4], streams[n/2], streams[3*n/4], streams[n-1]} {
		stream := x.ResponseBody
		want, err := read(t, replaying(bytes.NewReader(stream)))
		if err != nil {
			t.Fatal(err)
		}
		check := func(how string, number int, end func(from int) int) {
			got, err := read(t, replaying(&pieces{stream: stream, end: end}))
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s %d, %s %d: %v %s", x.File, x.Index, how, number, err, diff)
			}
		}
		for _, size := range []int{1, 2, 3, 7, 64, 1000} {
			check("pieces of", size, func(from int) int { return from + size })
		}
		for shift := -4; shift <= 4; shift++ { // around the end of each line, and so of each event
			check("cut at each line's end and", shift, func(from int) int {
				for at := max(from, shift) + 1; at-shift < len(stream); at++ {
					if stream[at-shift] == '\n' {
						return at
					}
				}
				return len(stream)
			})
		}
	}
}
