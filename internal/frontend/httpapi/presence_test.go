package httpapi_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// TestLastSeen checks that only those who could answer count as being there, and for how long.
func TestLastSeen(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	if !b.LastSeen().IsZero() {
		t.Errorf("somebody was seen at %s before the first request", b.LastSeen())
	}
	b.send(request{method: "GET", path: "/v1/info", token: "read"})
	reader := b.stream("/v1/events", "read", "")
	reader.block()
	if !b.LastSeen().IsZero() {
		t.Error("a reader cannot answer")
	}
	b.send(request{method: "GET", path: "/v1/info", token: "run"})
	first := b.LastSeen()
	if first.IsZero() || !b.LastSeen().Equal(first) {
		t.Error("the request was not seen, or is still there")
	}
	s := b.stream("/v1/events", "run", "")
	s.block()
	before := time.Now()
	if b.LastSeen().Before(before) {
		t.Error("a client with an open stream is not there")
	}
	s.close()
	wait.Until(t, "the client has left", func() bool { return b.LastSeen().Equal(b.LastSeen()) })
	if b.LastSeen().Before(before) {
		t.Error("the end of the stream was not seen")
	}
}
