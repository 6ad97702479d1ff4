// Package telemetry exports spans and metrics by OpenTelemetry's conventions for
// generative AI, to the OTLP endpoint that the user configures, and serves metrics
// in Prometheus' text format. It derives them from events, as any other reader of
// the log, and never blocks the work.
package telemetry

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
)

// Config configures a Telemetry. Without an endpoint it only collects metrics.
type Config struct {
	Settings
	Version string                               // version of pawl
	Redact  func(pawl.Event) (pawl.Event, error) // masks secrets; nil means that no content is sent
	Client  *http.Client                         // nil means a client that follows no redirects
}

// Telemetry collects spans and metrics. It is safe for concurrent use.
type Telemetry struct {
	metrics *registry
	watcher *watcher
	sender  *sender // nil if nothing is sent
}

// New returns a Telemetry. The caller must close it.
func New(c Config) *Telemetry {
	t := &Telemetry{metrics: newRegistry()}
	if c.Redact == nil {
		c.Content = false
	}
	t.watcher = &watcher{cfg: c, metrics: t.metrics, turns: map[pawl.SessionID]*turn{}, prompts: map[place]string{}, parents: map[pawl.SessionID]parent{}}
	if c.Endpoint != "" {
		t.sender = newSender(c, t.metrics)
		t.watcher.emit = t.sender.offer
	}
	return t
}

// resource returns the attributes that describe the sender.
func (c Config) resource() []Attr {
	return []Attr{{"service.name", cmp.Or(c.Service, "pawl")}, {"service.version", cmp.Or(c.Version, "dev")}, {"telemetry.sdk.language", "go"}, {"telemetry.sdk.name", "pawl"}}
}

// Close sends the remaining data, within two seconds. The error says what could not
// be sent since New.
func (t *Telemetry) Close() error {
	if t.sender == nil {
		return nil
	}
	return t.sender.close()
}

// Gauge adds a metric whose value is read at each export.
func (t *Telemetry) Gauge(name, help, unit string, read func() float64) {
	t.metrics.register(family{name: name, help: help, unit: unit, kind: gauge, read: read})
}

// Counter adds a metric that only increases and whose value is read at each export.
func (t *Telemetry) Counter(name, help, unit string, read func() float64) {
	t.metrics.register(family{name: name, help: help, unit: unit, kind: counter, read: read})
}

// Process adds metrics of the process itself.
func (t *Telemetry) Process() {
	began := float64(time.Now().UnixNano()) / 1e9
	memory := func(read func(*runtime.MemStats) uint64) func() float64 {
		return func() float64 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(read(&m))
		}
	}
	t.Gauge("process.start_time", "Start time of the process, in seconds since 1970.", "s", func() float64 { return began })
	t.Gauge("go.goroutines", "Number of goroutines.", "", func() float64 { return float64(runtime.NumGoroutine()) })
	t.Gauge("go.memory.heap", "Heap memory in use.", "By", memory(func(m *runtime.MemStats) uint64 { return m.HeapAlloc }))
	t.Gauge("go.memory.system", "Memory obtained from the system.", "By", memory(func(m *runtime.MemStats) uint64 { return m.Sys }))
}

// Request records a request to the HTTP server. route is the name of the matched
// route, not the path, or "" if none matched.
func (t *Telemetry) Request(route string, status int, d time.Duration) {
	t.metrics.observe(metricRequest, d.Seconds(), cmp.Or(route, "none"), strconv.Itoa(status))
}

// Step records a step of a fleet by kind and result.
func (t *Telemetry) Step(kind, result string, d time.Duration) {
	t.metrics.observe(metricStep, d.Seconds(), kind, result)
}

// Workspace records an operation on a whole workspace, and its size in bytes.
func (t *Telemetry) Workspace(kind, result string, d time.Duration, bytes int64) {
	t.metrics.observe(metricSpace, d.Seconds(), kind, result)
	t.metrics.add(metricSpaceBytes, float64(bytes), kind)
}

// Log is the event log that Watch wraps.
type Log interface {
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	Publish(e pawl.Event)
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Watch returns log with t observing the events that this process writes to it.
func (t *Telemetry) Watch(log Log) Log { return &watched{log, t.watcher} }

type watched struct {
	Log
	w *watcher
}

// Append appends events to the log and observes those that were stored.
func (l *watched) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := l.Log.Append(ctx, id, after, events...)
	if err == nil {
		l.w.appended(stored)
	}
	return stored, err
}

// Publish publishes an event and observes the deltas of replies, for the time to
// the first chunk.
func (l *watched) Publish(e pawl.Event) {
	l.Log.Publish(e)
	if _, ok := e.Body.(pawl.Delta); ok {
		l.w.grew(e)
	}
}
