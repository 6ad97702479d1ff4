package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// patience is how long a test waits before it fails.
const patience = time.Minute

const someone = pawl.SessionID("01JD0000000000000000000000")

// instance is a server that can be stopped abruptly, as by a kill.
type instance struct {
	*httpapi.Server
	done chan error
}

func start(t *testing.T, path string, svc pawl.Service) *instance {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{done: make(chan error, 1), Server: httpapi.New(httpapi.Config{
		Service: func(api.Principal) pawl.Service { return svc },
		Auth:    func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeAdmin}, nil },
	})}
	go func() { i.done <- i.Serve(l) }()
	return i
}

func (i *instance) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := errors.Join(i.Close(ctx), <-i.done); err != nil {
		t.Error(err)
	}
}

// rename appends an event.
func rename(t *testing.T, svc pawl.Service, id pawl.SessionID, n int) {
	t.Helper()
	if err := svc.Rename(t.Context(), id, fmt.Sprint("title ", n)); err != nil {
		t.Fatal(err)
	}
}

// TestEventsGoOn restarts the server, on the same socket or on another that the
// client knows, and checks that no event comes twice or is missing.
func TestEventsGoOn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, places := range map[string][]string{"on the same socket": {"a"}, "on another": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			svc := servicetest.Local(t).Service
			s, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			at := func(n int) string { return filepath.Join(dir, places[n%len(places)]) }
			config := client.Config{URL: "unix://" + at(0)}
			for n := 1; n < len(places); n++ {
				config.Others = append(config.Others, "unix://"+at(n))
			}
			c, err := client.New(config)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			up := start(t, at(0), svc)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			last, restarts := pawl.Seq(0), 0
			for e, err := range c.Events(ctx, s.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Seq != last+1 {
					t.Fatalf("event %d after %d", e.Seq, last)
				}
				last = e.Seq
				if restarts == 5 {
					break
				}
				restarts++
				up.stop(t)
				rename(t, svc, s.ID, restarts) // while no server runs
				up = start(t, at(restarts), svc)
				if _, err := c.Get(ctx, s.ID); err != nil {
					t.Errorf("ask after restart %d: %v", restarts, err)
				}
			}
			if last != 6 {
				t.Errorf("%d events", last)
			}
			up.stop(t)
		})
	}
}

// TestOrdersAreNotRepeated checks that a request goes to another server only if the
// first one has certainly not accepted it.
func TestOrdersAreNotRepeated(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	breaks := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		taken.Add(1)
		panic(http.ErrAbortHandler) // accepted, but the response is lost
	}))
	defer breaks.Close()
	drains := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"code":"unavailable","message":"draining"}}`))
	}))
	defer drains.Close()
	works := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		taken.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"seq":7}`))
	}))
	defer works.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		urls  []string
		taken int64
		err   error
	}{
		"gone":                {[]string{closed.URL, works.URL}, 1, nil},
		"draining":            {[]string{drains.URL, works.URL}, 1, nil},
		"both":                {[]string{closed.URL, drains.URL, works.URL}, 1, nil},
		"the answer was lost": {[]string{breaks.URL, works.URL}, 1, pawl.ErrUnavailable},
		"all gone":            {[]string{closed.URL, drains.URL}, 0, pawl.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			taken.Store(0)
			cl, err := client.New(client.Config{URL: c.urls[0], Others: c.urls[1:]})
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			seq, err := cl.Send(t.Context(), someone, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}})
			if !errors.Is(err, c.err) || (err == nil) != (seq == 7) || taken.Load() != c.taken {
				t.Errorf("%d, %v; taken %d times", seq, err, taken.Load())
			}
		})
	}
}

// at returns a client of a handler.
func at(t *testing.T, h http.HandlerFunc, change ...func(*client.Config)) *client.Client {
	t.Helper()
	s := httptest.NewServer(h)
	config := client.Config{URL: s.URL, Token: "the secret"}
	for _, f := range change {
		f(&config)
	}
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return c
}

// TestNotAPawl checks that every method reports a server that is not Pawl at once,
// and that a redirect does not get the token.
func TestNotAPawl(t *testing.T) {
	t.Parallel()
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			stolen.Add(1)
		}
	}))
	defer thief.Close()
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>data: {}</html>"))
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"a page": page(200), "a page that says created": page(201), "a bad gateway": page(502), "a page that is not found": page(404),
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, http.StatusFound) },
		"a redirect that keeps all": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		},
		"a redirect on the same one": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusPermanentRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := at(t, h)
			_, get := c.Get(t.Context(), someone)
			_, send := c.Send(t.Context(), someone, pawl.Prompt{})
			_, imported := c.Import(t.Context(), pawl.NewSession{}, func(func(pawl.Event, error) bool) {})
			var events error
			for _, err := range c.Events(t.Context(), someone, 0) {
				events = err
			}
			for what, err := range map[string]error{"get": get, "send": send, "import": imported, "cancel": c.Cancel(t.Context(), someone), "events": events} {
				if !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), "not a compatible Pawl server") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	if stolen.Load() > 0 {
		t.Error("the token was sent on")
	}
}

// streams responds with text and, if stays is set, keeps the stream open until the
// client disconnects.
func streams(text string, stays bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(text))
		_ = http.NewResponseController(w).Flush()
		if stays {
			<-r.Context().Done()
		}
	}
}

func event(seq int) string {
	return fmt.Sprintf(`{"v":1,"session":%q,"seq":%d,"at":"2026-11-15T09:00:00Z","type":"session.titled","body":{"title":"x"}}`, someone, seq)
}

// TestBadStreams checks that an invalid stream ends with an error.
func TestBadStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, err string
		code      pawl.Code
	}{
		"garbage":             {"data: {]\n\n", "read the server's events", pawl.CodeInternal},
		"a huge event":        {"data: " + strings.Repeat("x", 64<<20) + "\n\n", "larger than 67108864 bytes", pawl.CodeInvalid},
		"an event of no kind": {"data: " + strings.Replace(event(1), "session.titled", "nothing", 1) + "\n\n", "read the server's events", pawl.CodeInternal},
		"an error":            {"event: error\ndata: {\"error\":{\"code\":\"not_found\",\"message\":\"it is gone\"}}\n\n", "it is gone", pawl.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			cl := at(t, streams(c.text, false))
			var got []error
			for _, err := range cl.Events(t.Context(), someone, 0) {
				got = append(got, err)
			}
			if len(got) != 1 || got[0] == nil || !strings.Contains(got[0].Error(), c.err) || pawl.CodeOf(got[0]) != c.code {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestStreamIsMadeWhole checks that the client skips events that come twice,
// reconnects where one is missing, and ignores comments and unknown fields.
func TestStreamIsMadeWhole(t *testing.T) {
	t.Parallel()
	var asked []string
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("after"))
		text := ": hello\n\nretry: 5\nid: 1\nnew: x\ndata: " + event(1) + "\n\ndata: " + event(1) + "\r\n\r\ndata: " + event(3) + "\n\n"
		if len(asked) > 1 {
			text = "data: " + event(1) + "\n\ndata: " + event(2) + "\n\ndata: " + event(3) + "\n\n"
		}
		streams(text, false)(w, r)
	})
	var got []pawl.Seq
	for e, err := range c.Events(t.Context(), someone, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.Seq); len(got) == 3 {
			break
		}
	}
	if fmt.Sprint(got, asked) != "[1 2 3] [0 1]" {
		t.Errorf("got %v, asked after %v", got, asked)
	}
}

// TestSilence checks that the client reconnects when a stream is silent for too long.
func TestSilence(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		streams("data: "+event(n)+"\n\n", true)(w, r)
	}, func(c *client.Config) { c.Silence = 20 * time.Millisecond })
	for e, err := range c.Events(t.Context(), someone, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 3 {
			return
		}
	}
}

// TestEventsEndWithTheirContext checks that a stream ends without an error when its
// context ends, at any point.
func TestEventsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"while it waits for an event": streams("data: "+event(1)+"\n\n", true),
		"while it waits to try again": streams("data: "+event(1)+"\n\n", false),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			for _, err := range at(t, h).Events(ctx, someone, 0) {
				if n++; err != nil || n > 1 {
					t.Errorf("event %d: %v", n, err)
				}
				cancel()
			}
		})
	}
}
