package telemetry

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/pawl-dev/pawl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session  pawl.SessionID = "01JD0000000000000000000000"
	subagent pawl.SessionID = "01JD0000000000000000000001"
	model                   = "anthropic/claude-x"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// receiver is an OTLP receiver over HTTP that decodes with OpenTelemetry's own code.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics map[string]*metricspb.Metric
	headers []http.Header
	status  int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{metrics: map[string]*metricspb.Metric{}, status: http.StatusOK}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	r.headers = append(r.headers, req.Header)
	var traces tracepb.TracesData
	var metrics metricspb.MetricsData
	switch {
	case err != nil:
	case req.URL.Path == "/v1/traces":
		err = proto.Unmarshal(body, &traces)
	case req.URL.Path == "/v1/metrics":
		err = proto.Unmarshal(body, &metrics)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, res := range traces.GetResourceSpans() {
		for _, scope := range res.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	for _, res := range metrics.GetResourceMetrics() {
		for _, scope := range res.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				r.metrics[m.GetName()] = m
			}
		}
	}
	w.WriteHeader(r.status)
}

// memory is a log that only assigns sequence numbers.
type memory struct{ heads map[pawl.SessionID]pawl.Seq }

func (m *memory) Append(_ context.Context, id pawl.SessionID, _ pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored := slices.Clone(events)
	for i := range stored {
		m.heads[id]++
		stored[i].Session, stored[i].Seq = id, m.heads[id]
	}
	return stored, nil
}
func (m *memory) Publish(pawl.Event) {}
func (m *memory) Events(context.Context, pawl.SessionID, pawl.Seq) iter.Seq2[pawl.Event, error] {
	return nil
}

// env sends events to a Telemetry, one second apart.
type env struct {
	*Telemetry
	t      *testing.T
	memory *memory
	log    Log
	now    time.Time
}

func newEnv(t *testing.T, c Config) *env {
	tele := New(c)
	m := &memory{map[pawl.SessionID]pawl.Seq{}}
	return &env{Telemetry: tele, t: t, memory: m, log: tele.Watch(m), now: noon}
}

func (w *env) write(id pawl.SessionID, turn int, bodies ...pawl.Body) {
	w.t.Helper()
	for _, b := range bodies {
		w.now = w.now.Add(time.Second)
		e := pawl.Event{Session: id, Turn: turn, At: w.now, Body: b}
		if !pawl.KindOf(b).Durable() {
			w.log.Publish(e)
			continue
		}
		if _, err := w.log.Append(w.t.Context(), id, 0, e); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *env) close() {
	w.t.Helper()
	if err := w.Close(); err != nil {
		w.t.Error(err)
	}
}

func said(text string, calls ...pawl.ToolCall) pawl.Parts {
	parts := pawl.Parts{pawl.Text{Text: text}}
	for _, c := range calls {
		parts = append(parts, c)
	}
	return parts
}

func call(id pawl.CallID, name, input string) pawl.ToolCall {
	return pawl.ToolCall{ID: id, Name: name, Input: []byte(input)}
}

// mask replaces the redactor, which has tests of its own.
func mask(e pawl.Event) (pawl.Event, error) {
	kind, version, data, err := e.EncodeBody()
	if err != nil {
		return e, err
	}
	e.Body, err = kind.Decode(version, []byte(strings.ReplaceAll(string(data), "s3cret", "[masked]")))
	return e, err
}
