package fakeprovider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// Errors instead of a reply have each protocol's own shape and words.
func TestStatusFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault  string
		status map[fakeprovider.Protocol]int // nil: the fault's own
		says   [4]string                     // by protocol, in order
	}{
		{"error", all(400), [4]string{`"invalid_request_error"`, `"invalid_request_error"`, `"invalid_request_error"`, `"INVALID_ARGUMENT"`}},
		{"overloaded", map[fakeprovider.Protocol]int{fakeprovider.Messages: 529, fakeprovider.Chat: 503, fakeprovider.Responses: 503, fakeprovider.Gemini: 503}, [4]string{`"overloaded_error"`, "overloaded", "overloaded", `"UNAVAILABLE"`}},
		{"overflow", all(400), [4]string{"prompt is too long", "context_length_exceeded", "context_length_exceeded", "input token count"}},
		{"400", all(400), [4]string{`"invalid_request_error"`, `"invalid_request_error"`, `"invalid_request_error"`, `"INVALID_ARGUMENT"`}},
		{"401", all(401), [4]string{`"authentication_error"`, `"invalid_api_key"`, `"invalid_api_key"`, `"UNAUTHENTICATED"`}},
		{"403", all(403), [4]string{`"permission_error"`, "not supported", "not supported", `"PERMISSION_DENIED"`}},
		{"413", all(413), [4]string{`"request_too_large"`, "too large", "too large", "Too Large"}},
		{"429", all(429), [4]string{`"rate_limit_error"`, `"rate_limit_exceeded"`, `"rate_limit_exceeded"`, `"RESOURCE_EXHAUSTED"`}},
		{"429:7", all(429), [4]string{`"rate_limit_error"`, `"rate_limit_exceeded"`, `"rate_limit_exceeded"`, `"RESOURCE_EXHAUSTED"`}},
		{"500", all(500), [4]string{`"api_error"`, `"server_error"`, `"server_error"`, `"INTERNAL"`}},
		{"502", all(502), [4]string{"<html>", "<html>", "<html>", "<html>"}},
		{"503", all(503), [4]string{`"api_error"`, "overloaded", "overloaded", `"UNAVAILABLE"`}},
		{"529", all(529), [4]string{`"overloaded_error"`, `"server_error"`, `"server_error"`, `"error"`}},
	}
	for _, tt := range tests {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, fmt.Sprintf(`{"fault":%q}`, tt.fault))
		for i, p := range protocols {
			r := post(t.Context(), srv.URL, p, history{}.body(p))
			if r.status != tt.status[p] || !strings.Contains(r.body, tt.says[i]) {
				t.Errorf("%s %s: got %d %s, want %d %s", p, tt.fault, r.status, r.body, tt.status[p], tt.says[i])
			}
			_, want, _ := strings.Cut(tt.fault, ":")
			if got := r.header.Get("Retry-After"); got != want {
				t.Errorf("%s %s: Retry-After %q, want %q", p, tt.fault, got, want)
			}
			if tt.fault != "502" {
				r.message(t)
			}
		}
	}
}

func all(status int) map[fakeprovider.Protocol]int {
	m := map[fakeprovider.Protocol]int{}
	for _, p := range protocols {
		m[p] = status
	}
	return m
}

// ends are what says that a stream is whole.
var ends = map[fakeprovider.Protocol]string{fakeprovider.Messages: "message_stop", fakeprovider.Chat: "[DONE]", fakeprovider.Responses: "response.completed", fakeprovider.Gemini: "finishReason"}

// Streams that go wrong on the way.
func TestStreamFaults(t *testing.T) {
	t.Parallel()
	const line = `{"text":"abcdefgh","deltas":4,"calls":[{"name":"read","input":{"path":"file.go"}}],"fault":%q}`
	tests := []struct {
		fault  string
		broken bool     // the connection is cut
		whole  bool     // the last event comes
		has    []string // in it, for all protocols
		not    []string
	}{
		{"drop_first", true, false, nil, []string{"ab"}},
		{"drop", true, false, []string{`"ab"`, `"cd"`}, []string{`"ef"`}},
		{"drop_in_call", true, false, []string{`"gh"`}, []string{`file.go"`}},
		{"malformed", false, true, []string{`"cd"`, `"gh"`}, nil},
		{"no_end", false, false, []string{`"gh"`, "call_1_1"}, nil},
		{"stream_error", false, false, []string{`"cd"`, `"error"`}, []string{`"ef"`}},
		{"overflow_late", false, false, []string{`"cd"`, "exceed"}, []string{`"ef"`}},
		{"dribble", false, true, []string{`"ab"`, `"gh"`}, nil},
		{"empty", false, true, nil, []string{`"ab"`, "call_1_1"}},
		{"unknown_tool", false, true, []string{"no_such_tool"}, []string{`"read"`}},
		{"huge:200000", false, true, []string{strings.Repeat("a", 200000)}, nil},
	}
	for _, tt := range tests {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, fmt.Sprintf(line, tt.fault))
		for _, p := range protocols {
			r := post(t.Context(), srv.URL, p, history{}.body(p))
			if broken := r.err != nil; broken != tt.broken {
				t.Errorf("%s %s: ended with %v", p, tt.fault, r.err)
			}
			if whole := strings.Contains(r.body, ends[p]); whole != tt.whole {
				t.Errorf("%s %s: whole %t, want %t: %.2000s", p, tt.fault, whole, tt.whole, r.body)
			}
			for _, s := range tt.has {
				if tt.fault == "overflow_late" && p == fakeprovider.Messages {
					s = strings.Replace(s, "exceed", "too long", 1)
				}
				if !strings.Contains(r.body, s) {
					t.Errorf("%s %s: no %.50s in %.2000s", p, tt.fault, s, r.body)
				}
			}
			for _, s := range tt.not {
				if strings.Contains(r.body, s) {
					t.Errorf("%s %s: %s in %.2000s", p, tt.fault, s, r.body)
				}
			}
			if valid := validEvents(r.body); valid == (tt.fault == "malformed") && !tt.broken {
				t.Errorf("%s %s: events are JSON: %t in %.2000s", p, tt.fault, valid, r.body)
			}
		}
	}
}

// validEvents reports whether the data of all events is JSON.
func validEvents(stream string) bool {
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			return false
		}
	}
	return true
}

func TestCallFaults(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		count := func(fault, s string) int {
			srv := modeltest.StartFake(t, fakeprovider.Config{}, fmt.Sprintf(`{"calls":[{"name":"list"},{"name":"read"}],"fault":%q}`, fault))
			stream := post(t.Context(), srv.URL, p, history{}.body(p)).body
			if p == fakeprovider.Responses { // its last event repeats all of them
				stream, _, _ = strings.Cut(stream, "event: response.completed")
				return strings.Count(stream, `"call_id":"`+s) / 2
			}
			return strings.Count(stream, `"id":"`+s)
		}
		if one, two := count("duplicate_ids", "call_1_1"), count("duplicate_ids", "call_1_2"); one != 1 || two != 2 {
			t.Errorf("%s: call_1_1 came %d times and call_1_2 %d times, want 1 and 2", p, one, two)
		}
		srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"fault":"cut_arguments"}`)
		r := post(t.Context(), srv.URL, p, history{}.body(p))
		if want := map[fakeprovider.Protocol]string{fakeprovider.Messages: "max_tokens", fakeprovider.Chat: "length", fakeprovider.Responses: "max_output_tokens", fakeprovider.Gemini: "MAX_TOKENS"}[p]; !strings.Contains(r.body, want) {
			t.Errorf("%s: no %s in %s", p, want, r.body)
		}
	}
}

// Silence: what was promised comes, then nothing, until the client goes.
func TestSilentFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault string
		bytes int // before the silence; -1: up to the middle of the text
	}{{"hang", -1}, {"silence:0", 0}, {"silence:100", 100}} {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, fmt.Sprintf(`{"text":"abcd","deltas":2,"fault":%q}`, tt.fault))
		for _, p := range protocols {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+paths[p], strings.NewReader(history{}.body(p)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Anthropic-Version", "2023-06-01")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			quiet := time.AfterFunc(time.Second, cancel) // that it is silent can only be seen by waiting
			for buf := make([]byte, 1000); !strings.Contains(got.String(), `"ab"`) && got.Len() != tt.bytes; {
				n, err := resp.Body.Read(buf)
				got.Write(buf[:n])
				if err != nil {
					t.Errorf("%s %s: %v after %q", p, tt.fault, err, got.String())
					break
				}
			}
			quiet.Reset(20 * time.Millisecond)
			rest, err := io.ReadAll(resp.Body)
			if !errors.Is(err, context.Canceled) || strings.Contains(string(rest), "cd") {
				t.Errorf("%s %s: %v after %q and %q", p, tt.fault, err, got.String(), rest)
			}
			_ = resp.Body.Close()
			cancel()
		}
	}
}

// A fault of so many times is over when the same request comes again.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"there","fault":"503","times":2}`)
		var got []int
		for range 4 {
			got = append(got, post(t.Context(), srv.URL, p, history{}.body(p)).status)
		}
		if diff := cmp.Diff([]int{503, 503, 200, 200}, got); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
	}
}

// The hook goes before the header, the header before the script.
func TestWhoseFault(t *testing.T) {
	t.Parallel()
	srv := modeltest.StartFake(t, fakeprovider.Config{Fault: func(n int, r *http.Request) fakeprovider.Fault {
		if n == 1 && r.URL.Path == "/v1/messages" {
			return fakeprovider.Fault{Kind: fakeprovider.KindStatus, Status: 418, Body: "teapot", RetryAfter: "soon"}
		}
		return fakeprovider.Fault{}
	}}, `{"fault":"500"}`)
	var got []string
	for _, header := range []string{"429", "429", "", "nonsense"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/messages", strings.NewReader(history{}.body(fakeprovider.Messages)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set(fakeprovider.FaultHeader, header)
		r := do(req)
		got = append(got, fmt.Sprint(r.status, r.header.Get("Retry-After")))
	}
	if diff := cmp.Diff([]string{"418soon", "429", "500", "400"}, got); diff != "" {
		t.Error(diff)
	}
	var log []string
	for _, r := range srv.Requests() {
		log = append(log, fmt.Sprint(r.Protocol, " ", r.Path, " ", r.Position, " ", r.Attempt, " ", r.Status, " ", r.Fault, " ", len(r.Body) > 0))
	}
	want := []string{
		"messages /v1/messages 0 1 418 418:soon true", "messages /v1/messages 0 2 429 429 true",
		"messages /v1/messages 0 3 500 500 true", "messages /v1/messages 0 4 400 400 true",
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
}

func TestParseFault(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"drop": "drop", "429": "429", "429:2": "429:2", "silence:10": "silence:10", "huge": "huge:1048576", "dribble": "dribble:0",
		"drop:1": `fault "drop:1": want a number from 0 to 268435456, of silence, dribble or huge only`, "200": `fault "200": want a status from 400 to 599`, "429:x": `fault "429:x": want seconds to wait after the colon`,
	} {
		f, err := fakeprovider.ParseFault(s)
		got := f.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", s, got, want)
		}
	}
	if _, err := fakeprovider.ParseFault("flood"); err == nil || !strings.Contains(err.Error(), "drop_in_call") {
		t.Errorf("got %v, want the list", err)
	}
}

// Any number of conversations run at once, and none sees another's.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"calls":[{"name":"list"}]}`, `{"text":"three"}`)
	said := turn{text: "one", then: "go on"}
	called := turn{calls: []string{"call_2_1 list"}, then: "done"}
	var wg sync.WaitGroup
	for range 50 {
		for _, p := range protocols {
			wg.Go(func() {
				for i, h := range []history{{}, {said}, {said, called}} {
					r := post(t.Context(), srv.URL, p, h.body(p))
					if want := []string{`"one"`, `"list"`, `"three"`}[i]; r.err != nil || !strings.Contains(r.body, want) {
						t.Errorf("%s %d: %v %s", p, i, r.err, r.body)
					}
				}
			})
		}
	}
	wg.Wait()
	if got := len(srv.Requests()); got != 600 {
		t.Errorf("the log has %d requests, want 600", got)
	}
}
