package httpapi_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// endless is a service of one session with many large events.
type endless struct {
	pawl.Service
	size, count int
	ended       atomic.Int64 // iterations
	reported    chan struct{}
}

func (s *endless) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{ID: id, Head: pawl.Seq(s.count)}, nil
}

func (s *endless) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		defer s.ended.Add(1)
		text := strings.Repeat("x", s.size)
		for seq := after + 1; int(seq) <= s.count && ctx.Err() == nil; seq++ {
			e := pawl.Event{Session: id, Seq: seq, At: time.Unix(0, 0).UTC(), Body: pawl.SessionTitled{Title: text}}
			if !yield(e, nil) {
				return
			}
		}
		if s.reported != nil {
			<-ctx.Done()
		}
	}
}

func (s *endless) Cancel(context.Context, pawl.SessionID) error { return nil }

// ends waits until an iteration of the service's has ended.
func (b *testServer) ends(t *testing.T) {
	t.Helper()
	svc, ok := b.svc.(*endless)
	wait.Until(t, "the iteration has ended", func() bool { return !ok || svc.ended.Load() > 0 })
}

// A stream begins after what the client has: by the query, or by the header that
// a browser sends, which counts.
func TestStreamReplays(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	for i := range 5 {
		if err := b.svc.Rename(t.Context(), id, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query, last string
		first       pawl.Seq
	}{{"", "", 1}, {"?after=0", "", 1}, {"?after=3", "", 4}, {"", "4", 5}, {"?after=1", "5", 6}} {
		s := b.open(id, c.query, map[string]string{"Last-Event-ID": c.last})
		for want := c.first; want <= 6; want++ {
			if e := s.next(); e.Seq != want {
				t.Fatalf("%+v: event %d, want %d", c, e.Seq, want)
			}
		}
		if err := b.svc.Rename(t.Context(), id, "live"); err != nil {
			t.Fatal(err)
		}
		if e := s.next(); e.Seq < 7 {
			t.Errorf("%+v: event %d comes twice", c, e.Seq)
		}
		s.close()
		b.refuses(400, pawl.CodeInvalid, request{method: "GET", path: "/v1/sessions/" + string(id) + "/events", header: map[string]string{"Last-Event-ID": "x"}})
		id = b.create()
		for i := range 5 {
			if err := b.svc.Rename(t.Context(), id, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A stream on which nothing happens shows that it is alive.
func TestStreamHeartbeats(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) { c.Heartbeat = time.Millisecond })
	s := b.open(b.create(), "", nil)
	s.next()
	for heartbeats := 0; heartbeats < 3; {
		fields, ok := s.block()
		if !ok {
			t.Fatal("the stream ended")
		}
		if fields[""] == "still here" {
			heartbeats++
		}
	}
}

// One that does not read is cut off; when it comes again nothing is missing and
// nothing comes twice.
func TestStreamOfASlowClient(t *testing.T) { //nolint:paralleltest // it sets environment variables
	svc := &endless{size: 256 << 10, count: 64, reported: make(chan struct{})}
	b := newTestServer(t, svc, quick)
	s := b.open("01JD0000000000000000000000", "", nil)
	first := s.next()
	b.ends(t)
	last := first.Seq
	for {
		fields, ok := s.block()
		if !ok {
			break
		}
		if fields["id"] != "" {
			if last++; fields["id"] != fmt.Sprint(last) {
				t.Fatalf("event %s, want %d", fields["id"], last)
			}
		}
	}
	if int(last) >= svc.count {
		t.Fatal("it was not cut off")
	}
	for int(last) < svc.count { // it may be cut off again: the machine may be busy
		again := b.open("01JD0000000000000000000000", "", map[string]string{"Last-Event-ID": fmt.Sprint(last)})
		for fields, ok := again.block(); ok && int(last) < svc.count; fields, ok = again.block() {
			if fields["id"] == "" {
				continue
			}
			if last++; fields["id"] != fmt.Sprint(last) {
				t.Fatalf("event %s, want %d", fields["id"], last)
			}
		}
		again.close()
	}
}

// There are only so many streams; one that has ended frees space.
func TestStreamLimit(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) { c.Streams = 2 })
	id := b.create()
	path := "/v1/sessions/" + string(id) + "/events"
	one, two := b.open(id, "", nil), b.open(id, "", nil)
	one.next()
	two.next()
	got := b.refuses(429, api.CodeLimited, request{method: "GET", path: path})
	if got.header.Get("Retry-After") == "" {
		t.Error("it does not say when to come again")
	}
	one.close()
	wait.Until(t, "another stream may start", func() bool {
		resp, err := b.http.Do(b.request(request{method: "GET", path: path}))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// A stream of a session that is deleted says so, and ends.
func TestStreamOfADeletedSession(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	s := b.open(id, "", nil)
	s.next()
	if err := b.svc.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	fields, ok := s.block()
	if !ok || fields["event"] != "error" || !strings.Contains(fields["data"], `"not_found"`) {
		t.Errorf("it ends with %v", fields)
	}
	if _, ok := s.block(); ok {
		t.Error("it goes on after the error")
	}
}

// A server that drains takes no new work, lets what is under way be watched,
// answered and canceled, and at its end shows those who watch how it came out.
func TestDrain(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	s := "/v1/sessions/" + string(id)
	model := b.script(`{"calls":[{"name":"bash","input":{"command":"touch a"}}]}`, `{"text":"Done."}`)
	b.ask(202, "POST", s+"/prompts", prompt(model, `,"mode":"ask"`), new(api.Accepted))
	ask := b.until(id, is[pawl.Asked]).Seq
	watch := b.open(id, "", nil)
	b.Drain()
	for path, body := range map[string]string{
		"/v1/sessions": `{"dir":"` + b.dir + `"}`, s + "/prompts": prompt(model, ""), s + "/resume": "", s + "/fork": `{}`,
		s + "/compact": `{}`, s + "/undo": `{}`,
	} {
		if got := b.refuses(503, pawl.CodeUnavailable, request{method: "POST", path: path, body: body}); got.header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come again", path)
		}
	}
	if got := b.send(request{method: "GET", path: "/readyz"}); got.status != 503 {
		t.Errorf("it is ready: %d", got.status)
	}
	if got := b.send(request{method: "GET", path: "/healthz"}); got.status != 200 {
		t.Errorf("it is not healthy: %d", got.status)
	}
	b.ask(204, "POST", fmt.Sprintf("%s/asks/%d/answer", s, ask), `{"outcome":"answered"}`, nil)
	b.finished(id)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- b.Close(ctx) }()
	for e := watch.next(); !is[pawl.TurnFinished](e); e = watch.next() {
		if e.Seq > 100 {
			t.Fatal("the turn does not end")
		}
	}
	for ok := true; ok; {
		_, ok = watch.block()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// What is not ready says so, and not why.
func TestReady(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Ready = func(context.Context) error { return fmt.Errorf("dial db-7.internal") }
	})
	if got := b.send(request{method: "GET", path: "/readyz", token: "-"}); got.status != 503 || strings.Contains(got.text, "db-7") {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// late is a service of a session with two events, the second of which comes only
// when somebody has asked twice how far the log is.
type late struct {
	pawl.Service
	asked atomic.Int64
	comes chan struct{}
}

func (s *late) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	if s.asked.Add(1) == 2 {
		close(s.comes)
	}
	return pawl.Session{ID: id, Head: 2}, nil
}

func (s *late) Events(ctx context.Context, id pawl.SessionID, _ pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		titled := func(seq pawl.Seq) bool {
			return yield(pawl.Event{Session: id, Seq: seq, At: time.Unix(0, 0).UTC(), Body: pawl.SessionTitled{Title: "x"}}, nil)
		}
		if !titled(1) {
			return
		}
		select {
		case <-s.comes:
			titled(2)
		case <-ctx.Done():
		}
		<-ctx.Done()
	}
}

// A stream shows what the log holds when the server ends, also what is still on
// its way.
func TestStreamEndsWithTheLog(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, &late{comes: make(chan struct{})})
	s := b.open("01JD0000000000000000000000", "", nil)
	s.next()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- b.Close(ctx) }()
	if e := s.next(); e.Seq != 2 {
		t.Errorf("the last event is %d", e.Seq)
	}
	if _, ok := s.block(); ok {
		t.Error("it goes on")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
