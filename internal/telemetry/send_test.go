package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// silent is an endpoint that accepts requests and never answers.
type silent struct{ asked int }

func (s *silent) RoundTrip(req *http.Request) (*http.Response, error) {
	s.asked++
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// An unresponsive endpoint does not delay the work, and delays Close by at most two
// seconds.
func TestDeadEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := &silent{}
		w := newEnv(t, Config{Settings: Settings{Endpoint: "http://dead.test"}, Client: &http.Client{Transport: dead}})
		began := time.Now()
		for range 1000 { // 8000 spans
			w.work()
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the work waited for %s", took)
		}
		synctest.Wait()
		began = time.Now()
		err := w.Close()
		if took := time.Since(began); took > closeTime {
			t.Errorf("the end took %s", took)
		}
		if err == nil || !strings.Contains(err.Error(), "8000 spans were not sent to http://dead.test") {
			t.Errorf("what is lost is not told: %v", err)
		}
		if got := parse(t, w.text())[`pawl_telemetry_dropped_total{kind="spans"}`]; got != 8000 {
			t.Errorf("%v spans are counted as dropped", got)
		}
		if dead.asked == 0 {
			t.Error("it was not asked, so nothing is shown")
		}
	})
}

// An endpoint that is reachable again gets later spans.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.status = http.StatusServiceUnavailable
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL}})
	w.work()
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v", err)
	}
}

// Without any work nothing is sent, and an unreachable endpoint is not reported.
func TestIdle(t *testing.T) {
	t.Parallel()
	dead := &silent{}
	w := newEnv(t, Config{Settings: Settings{Endpoint: "http://dead.test"}, Client: &http.Client{Transport: dead}})
	w.close()
	if dead.asked != 0 {
		t.Error("it was asked")
	}
	w.work() // after Close, which is harmless
	w.close()
}

// A receiver cannot send the headers elsewhere.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var seen int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	w := newEnv(t, Config{Settings: Settings{Endpoint: first.URL, Headers: map[string]string{"X-Key": "k"}}})
	w.work()
	if err := w.Close(); err == nil || seen != 0 {
		t.Errorf("%v, and %d requests came elsewhere", err, seen)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	mine := Settings{Endpoint: "http://mine:4318", Headers: map[string]string{"Key": "mine"}, Content: true}
	for _, c := range []struct {
		name string
		s    Settings
		env  map[string]string
		want Settings
		err  string
	}{
		{"nothing", Settings{}, nil, Settings{}, ""},
		{"the user's", mine, nil, mine, ""},
		{"disabled", mine, map[string]string{"OTEL_SDK_DISABLED": "True"}, Settings{}, ""},
		{"by variables", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://x", "OTEL_EXPORTER_OTLP_HEADERS": "a=b, c = d%20e%2C ", "OTEL_SERVICE_NAME": "me", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
			Settings{Endpoint: "https://x", Headers: map[string]string{"a": "b", "c": "d e,"}, Service: "me"}, ""},
		{"an endpoint of variables does not get the configuration's headers", mine, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://x"},
			Settings{Endpoint: "https://x", Headers: map[string]string{}, Content: true}, ""},
		{"headers of variables do not go to the configuration's endpoint", mine, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, mine, ""},
		{"gRPC", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, Settings{}, "only supports http/protobuf"},
		{"gRPC for others", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, Settings{}, ""},
		{"bad headers", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_HEADERS": "a"}, Settings{}, "name=value"},
		{"bad escape", Settings{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_HEADERS": "a=%zz"}, Settings{}, "invalid % escape"},
		{"no scheme", Settings{Endpoint: "localhost:4318"}, nil, Settings{}, "http://localhost:4318"},
		{"a file", Settings{Endpoint: "file:///x"}, nil, Settings{}, "http://localhost:4318"},
		{"a password", Settings{Endpoint: "http://a:" + "hunter2@x"}, nil, Settings{}, "use a header"},
		{"a query", Settings{Endpoint: "http://x/?a=b"}, nil, Settings{}, "use the base URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.s.With(func(name string) string { return c.env[name] })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if err == nil && c.err != "" || err != nil && (c.err == "" || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it has the password: %v", err)
			}
		})
	}
}
