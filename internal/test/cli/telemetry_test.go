//go:build e2e

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// collector is a receiver of telemetry.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	all   string // that came, metrics too
	keys  []string
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		c.all += string(body)
		c.keys = append(c.keys, r.Header.Get("X-Key"))
		var data tracepb.TracesData
		if err == nil && r.URL.Path == "/v1/traces" {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		for _, res := range data.GetResourceSpans() {
			for _, scope := range res.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// tree draws the spans: each below its parent, in the order of their beginnings.
func (c *collector) tree() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.spans, func(a, b *tracepb.Span) int {
		return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) //nolint:gosec // of this century
	})
	var b strings.Builder
	var draw func(parent []byte, indent string)
	draw = func(parent []byte, indent string) {
		for _, s := range c.spans {
			if string(s.GetParentSpanId()) != string(parent) {
				continue
			}
			b.WriteString(indent + s.GetName())
			if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				b.WriteString(": " + s.GetStatus().GetMessage())
			}
			for _, e := range s.GetEvents() {
				b.WriteString(" (" + e.GetName() + ")")
			}
			b.WriteString("\n")
			draw(s.GetSpanId(), indent+"  ")
		}
	}
	draw(nil, "")
	return b.String()
}

// newTelemetryProject returns a work directory whose user has this configuration.
func newTelemetryProject(t *testing.T, config string, env ...string) *harness.Workdir {
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	path := filepath.Join(t.TempDir(), "pawl.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Env = append(append(b.Env, "PAWL_CONFIG="+path), env...)
	return b
}

const telemetryScript = `{"text":"on it","calls":[{"name":"write","input":{"path":"a.txt","content":"the-content-of-a"}},{"name":"bash","input":{"command":"rm -rf /"}},{"name":"task","input":{"agent":"explore","prompt":"look at a.txt","description":"look"}}],"usage":{"input":7,"output":3}}
{"text":"all done"}
{"agent":"explore","calls":[{"name":"read","input":{"path":"a.txt"}}]}
{"agent":"explore","text":"I saw it"}
`

const telemetryTree = `invoke_agent build
  chat s.jsonl
  execute_tool bash: denied
  execute_tool write
  execute_tool task
    invoke_agent explore
      chat s.jsonl
      execute_tool read
      chat s.jsonl
  chat s.jsonl
`

// TestTelemetry: what a run does is reported as a tree of spans, and without what was
// said in it, unless the user wants that, and then without secrets.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	const key, token = "team-key-81723", "ghp" + "_0123456789abcdefABCDEF0123456789abcd"
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprintf("content_%t", content), func(t *testing.T) {
			c := newCollector(t)
			b := newTelemetryProject(t, fmt.Sprintf(`{"telemetry":{"endpoint":%q,"headers":{"X-Key":"{env:TEAM_KEY}"},"content":%t},
				"permissions":{"rules":[{"tool":"bash","decision":"deny"}]}}`, c.URL, content), "TEAM_KEY="+key)
			b.Write(t, "s.jsonl", telemetryScript)
			out := b.Must(t, "run", "--mode", "auto", "--model", "script:s.jsonl", "write a.txt; my keys are "+key+" and "+token)
			if diff := cmp.Diff(telemetryTree, c.tree()); diff != "" {
				t.Errorf("%s\n%s", diff, out.Stderr)
			}
			for _, said := range []string{"write a.txt; my keys are", "the-content-of-a", "I saw it", "all done"} {
				if strings.Contains(c.all, said) != content {
					t.Errorf("%q was sent: %t", said, !content)
				}
			}
			if strings.Contains(c.all, key) || strings.Contains(c.all, token) {
				t.Error("a secret was sent")
			}
			if i := slices.IndexFunc(c.keys, func(k string) bool { return k != key }); i >= 0 || len(c.keys) < 2 {
				t.Errorf("the header was %q", c.keys)
			}
			if strings.Contains(out.Stderr, "telemetry") {
				t.Errorf("stderr: %q", out.Stderr)
			}
		})
	}
}

// TestTelemetryRetry: a call that a provider refused at first is one span.
func TestTelemetryRetry(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	script := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(script, []byte(`{"fault":"429","times":1,"text":"hello"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := fakeprovider.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(fakeprovider.Handler(m, fakeprovider.Config{Key: "a-key"}))
	defer provider.Close()
	b := newTelemetryProject(t, fmt.Sprintf(`{"small_model":"none","providers":{"anthropic":{"base_url":%q}}}`, provider.URL),
		"ANTHROPIC_API_KEY=a-key", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	b.Must(t, "run", "--model", "anthropic/claude-sonnet-4-5", "hi")
	want := "invoke_agent build\n  chat claude-sonnet-4-5 (retry)\n"
	if diff := cmp.Diff(want, c.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestTelemetryDead: a receiver that is down costs a word, and not the run.
func TestTelemetryDead(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	c.Close()
	b := newTelemetryProject(t, fmt.Sprintf(`{"telemetry":{"endpoint":%q}}`, c.URL))
	b.Write(t, "s.jsonl", `{"text":"hello"}`+"\n")
	out := b.Must(t, "run", "--model", "script:s.jsonl", "hi")
	if out.Stdout != "hello\n" || !strings.Contains(out.Stderr, "2 spans were not sent to "+c.URL) {
		t.Errorf("it says %q and %q", out.Stdout, out.Stderr)
	}
	if out := b.Must(t, "session", "list"); out.Stderr != "" { // it does no work, and has nothing to tell
		t.Errorf("it says %q", out.Stderr)
	}
}

// TestServeMetrics: pawl serve tells at /metrics what it has done, to those who
// may read.
func TestServeMetrics(t *testing.T) {
	t.Parallel()
	b := newTelemetryProject(t, `{}`)
	socket := filepath.Join(envOf(b, "PAWL_DATA"), "pawl.sock")
	b.Write(t, "s.jsonl", `{"text":"hello","usage":{"input":7,"output":3}}`+"\n")
	cmd := b.Command("serve", "--log", "none")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	get := func(path string) string {
		res, err := client.Get("http://pawl" + path)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.Status + " " + res.Header.Get("Content-Type") + "\n" + string(text)
	}
	wait.Until(t, "the server is ready", func() bool { return strings.HasPrefix(get("/readyz"), "200") })
	b.Must(t, "run", "--attach", "unix", "--model", "script:"+filepath.Join(b.Dir, "s.jsonl"), "hi")
	get("/nowhere")
	text := get("/metrics")
	for _, want := range []string{
		"200 OK text/plain; version=0.0.4; charset=utf-8\n",
		"\npawl_turns_total{pawl_turn_reason=\"end_turn\"} 1\n",
		"\npawl_model_tokens_total{gen_ai_response_model=\"s.jsonl\",gen_ai_token_type=\"input\"} 7\n",
		"\nhttp_server_request_duration_seconds_count{http_route=\"createSession\",http_response_status_code=\"201\"} 1\n",
		"\nhttp_server_request_duration_seconds_count{http_route=\"none\",http_response_status_code=\"404\"} 1\n",
		"\npawl_http_streams ", "\npawl_turns_running ", "\ngo_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// envOf returns a variable of the environment.
func envOf(b *harness.Workdir, name string) string {
	for _, entry := range slices.Backward(b.Env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
