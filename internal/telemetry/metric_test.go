package telemetry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/pawl-dev/pawl"
)

func (w *env) text() string {
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return rec.Body.String()
}

// sample is a line of the text format: a name with labels, and a value.
var sampleLine = regexp.MustCompile(`^([a-z][a-z0-9_]*)(\{(?:[a-z][a-z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,|\}))+)? (\S+)$`)

// parse parses the text format strictly.
func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	samples, types := map[string]float64{}, map[string]string{}
	help := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			help, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if _, twice := types[name]; twice || name != help {
				t.Errorf("%s comes twice, or without its help", name)
			}
			types[name] = kind
			lint(t, name, kind)
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no sample: %q", line)
		}
		name := m[1]
		if types[name] == "" {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if types[name] != "histogram" {
				t.Errorf("%s has no type", m[1])
			}
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if _, twice := samples[m[1]+m[2]]; twice {
			t.Errorf("%s comes twice", m[1]+m[2])
		}
		samples[m[1]+m[2]] = v
	}
	return samples
}

// lint checks a name by the rules of promtool.
func lint(t *testing.T, name, kind string) {
	t.Helper()
	switch total := strings.HasSuffix(name, "_total"); {
	case total != (kind == "counter"):
		t.Errorf("%s is a %s: only counters end in _total, and all of them", name, kind)
	case regexp.MustCompile(`_(count|sum|bucket|info)$|__|[A-Z]`).MatchString(name):
		t.Errorf("%s ends in what is reserved, or is not in lower case", name)
	case regexp.MustCompile(`_(ms|milliseconds|minutes|kilobytes|mb)(_|$)`).MatchString(name):
		t.Errorf("%s is in no base unit", name)
	case regexp.MustCompile(`duration|time_to|_time`).MatchString(name) && !strings.Contains(name, "_seconds"):
		t.Errorf("%s is a time without seconds", name)
	}
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	w := newEnv(t, Config{})
	w.work()
	w.Process()
	w.Gauge("pawl.http.streams", "Streams.", "", func() float64 { return 3 })
	w.Request("sendPrompt", 202, 30*time.Millisecond)
	w.Request("sendPrompt", 202, 30*time.Second)
	w.Request("", 404, time.Millisecond)
	got := parse(t, w.text())
	want := map[string]float64{
		`pawl_turns_total{pawl_turn_reason="end_turn"}`:                                                                   1,
		`pawl_turns_total{pawl_turn_reason="error"}`:                                                                      1,
		`pawl_tool_calls_total{gen_ai_tool_name="bash",pawl_call_status="denied"}`:                                        1,
		`pawl_tool_calls_total{gen_ai_tool_name="read",pawl_call_status="done"}`:                                          1,
		`pawl_tool_denials_total{gen_ai_tool_name="bash"}`:                                                                1,
		`pawl_model_calls_total{gen_ai_response_model="claude-x"}`:                                                        1,
		`pawl_model_calls_total{gen_ai_response_model="claude-x",error_type="model"}`:                                     1,
		`pawl_model_calls_total{gen_ai_response_model="small"}`:                                                           1,
		`pawl_model_tokens_total{gen_ai_response_model="gpt-y",gen_ai_token_type="cache_read"}`:                           100,
		`pawl_model_tokens_total{gen_ai_response_model="claude-x",gen_ai_token_type="input"}`:                             10,
		`pawl_model_cost_dollars_total{gen_ai_response_model="gpt-y"}`:                                                    0.002,
		`pawl_model_retries_total{gen_ai_request_model="claude-x",error_type="rate_limited"}`:                             1,
		`pawl_events_total{kind="turn.started"}`:                                                                          2,
		`gen_ai_invoke_agent_duration_seconds_sum{gen_ai_agent_name="build",pawl_turn_reason="end_turn"}`:                 19,
		`gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="task"}`:                                             1,
		`http_server_request_duration_seconds_bucket{http_route="sendPrompt",http_response_status_code="202",le="0.025"}`: 0,
		`http_server_request_duration_seconds_bucket{http_route="sendPrompt",http_response_status_code="202",le="0.05"}`:  1,
		`http_server_request_duration_seconds_bucket{http_route="sendPrompt",http_response_status_code="202",le="10"}`:    1,
		`http_server_request_duration_seconds_bucket{http_route="sendPrompt",http_response_status_code="202",le="+Inf"}`:  2,
		`http_server_request_duration_seconds_count{http_route="none",http_response_status_code="404"}`:                   1,
		`pawl_http_streams`: 3,
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	for _, name := range []string{"go_goroutines", "go_memory_heap_bytes", "process_start_time_seconds"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	if t.Failed() {
		t.Log(w.text())
	}
}

// The number of series is bounded, whatever names models and servers invent, and label
// values are escaped.
func TestCardinality(t *testing.T) {
	t.Parallel()
	w := newEnv(t, Config{})
	for i := range 2000 {
		name := fmt.Sprintf("mcp__\"}\n\\%d%s", i, strings.Repeat("é", 100))
		ref := fmt.Sprintf("p%d/m%d", i%7, i)
		w.write(session, 1, pawl.TurnStarted{}, pawl.CallStarted{Call: "c", Tool: name}, pawl.CallFinished{Call: "c", Status: pawl.CallDone},
			pawl.ReplyStarted{Step: 1, Model: ref}, pawl.Replied{Step: 1, Model: ref + "b"}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
	}
	for i := range 40 * 40 { // few names, and many pairs of them
		w.write(session, 1, pawl.TurnStarted{}, pawl.ReplyStarted{Step: 1, Model: fmt.Sprintf("p0/m%d", i/40)},
			pawl.Replied{Step: 1, Model: fmt.Sprintf("p0/m%db", i%40)}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
	}
	text := w.text()
	samples := parse(t, text)
	if n := samples[`pawl_tool_calls_total{gen_ai_tool_name="other",pawl_call_status="done"}`]; n != 2000-maxNames {
		t.Errorf("%v calls are of other tools", n)
	}
	for _, f := range w.metrics.snapshot() {
		if len(f.series) > maxSeries {
			t.Errorf("%s has %d series", f.name, len(f.series))
		}
	}
	if len(samples) > 20*maxSeries*4 || strings.Contains(text, strings.Repeat("é", 60)) {
		t.Errorf("%d samples, %d bytes", len(samples), len(text))
	}
}

// The same metrics are sent by OTLP.
func TestMetrics(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL}})
	w.work()
	w.close()
	sum := r.metrics["pawl.tool.calls"].GetSum()
	if !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE || len(sum.GetDataPoints()) != 3 {
		t.Errorf("pawl.tool.calls: %v", sum)
	}
	if p := sum.GetDataPoints()[0]; p.GetAsDouble() != 1 || attr(p.GetAttributes(), "gen_ai.tool.name") != "bash" || p.GetStartTimeUnixNano() == 0 {
		t.Errorf("pawl.tool.calls: %v", p)
	}
	tokens := r.metrics["gen_ai.client.token.usage"]
	var got []string
	for _, p := range tokens.GetHistogram().GetDataPoints() {
		if len(p.GetBucketCounts()) != len(p.GetExplicitBounds())+1 {
			t.Errorf("%d buckets of %d bounds", len(p.GetBucketCounts()), len(p.GetExplicitBounds()))
		}
		got = append(got, fmt.Sprint(attr(p.GetAttributes(), "gen_ai.response.model"), " ", attr(p.GetAttributes(), "gen_ai.token.type"), " ", p.GetCount(), " ", p.GetSum()))
	}
	want := []string{"claude-x input 1 110", "claude-x output 1 5", "gpt-y input 1 110", "gpt-y output 1 5", "small input 1 3", "small output 1 1"}
	if diff := cmp.Diff(want, got); diff != "" || tokens.GetUnit() != "{token}" {
		t.Error(diff)
	}
}

// Fleet operations are counted by result, and gauges are read at export.
func TestFleetMetrics(t *testing.T) {
	t.Parallel()
	reports := New(Config{})
	reports.Step("think", "ok", 30*time.Millisecond)
	reports.Step("think", "waits", time.Millisecond)
	reports.Workspace("save", "ok", time.Second, 4096)
	reports.Workspace("save", "error", time.Second, 0)
	n := 41.0
	reports.Counter("pawl.nats.sent", "Messages.", "", func() float64 { n++; return n })
	rec := httptest.NewRecorder()
	reports.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	samples := parse(t, rec.Body.String())
	for name, want := range map[string]float64{
		`pawl_fleet_step_duration_seconds_count{kind="think",result="ok"}`:        1,
		`pawl_fleet_step_duration_seconds_count{kind="think",result="waits"}`:     1,
		`pawl_fleet_workspace_duration_seconds_count{kind="save",result="error"}`: 1,
		`pawl_fleet_workspace_size_bytes_total{kind="save"}`:                      4096,
		`pawl_nats_sent_total`: 42,
	} {
		if got, ok := samples[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
