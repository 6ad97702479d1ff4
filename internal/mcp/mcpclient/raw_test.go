package mcpclient

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// hasty are the times for servers that never answer.
var hasty = times{start: 300 * time.Millisecond, wait: 30 * time.Second, pause: time.Millisecond, steady: time.Hour, refresh: time.Millisecond}

// Whatever a program does instead of speaking the protocol, it is given up, the
// reason is reported, and nothing of it is left.
func TestRawPrograms(t *testing.T) { //nolint:paralleltest // it counts goroutines
	tests := []struct{ way, says string }{
		{"mute", "no answer in time"},
		{"deaf", "no answer in time"},
		{"exit", `the server exited with code 3: fatal: no such token`},
		{"garbage", "the server printed more than 200 lines that are not messages: stdout is reserved for messages"},
		{"not-json", "invalid character"},
		{"gigantic", "the server sent a message larger than 8388608 bytes"},
		{"flood", "the server sent more than 67108864 bytes, or 20000 lines, of unrequested output"},
	}
	_, _ = proc.Run(t.Context(), proc.Command{Args: []string{"true"}}) // starts the keeper
	current := goleak.IgnoreCurrent()
	for _, test := range tests {
		t.Run(test.way, func(t *testing.T) {
			limits := hasty
			if !strings.Contains(test.says, "in time") {
				limits.start = quick.start
			}
			set := New(Config{times: limits})
			defer set.Close()
			dir := t.TempDir()
			s, err := set.Test(t.Context(), dir, fakeEntry(t, Stdio, test.way))
			if err != nil || s.State != Failed || !strings.Contains(s.Why, test.says) || len(s.Why) > whyChars+10 {
				t.Errorf("%+v, %v", s, err)
			}
			if len(s.Tools) > 0 || len(set.Status(dir)) > 0 {
				t.Error("it has tools, or stays")
			}
		})
	}
	goleak.VerifyNone(t, current)
	t.Logf("mcp: 1 transport, %d cases", len(tests))
}

// A call comes back though the server does not even read it, and such a server
// is ended.
func TestDeaf(t *testing.T) {
	t.Parallel()
	w := newEnv(t, quick, Stdio, "numb")
	before := w.ready()
	l, err := w.find(w.dir, "fake")
	if err != nil {
		t.Fatal(err)
	}
	session, tool := l.session, w.tool("echo")
	w.text("numb", `{}`)
	input := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	for wait, broken := 10*time.Millisecond, false; !broken; wait *= 2 { // until it is long enough for the pipe to be full
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if _, err := run(ctx, tool, w.input(input)); err == nil {
			t.Error("a server that does not listen has answered")
		}
		cancel()
		select {
		case <-session.broken:
			broken = true
		default:
		}
	}
	w.await("another one", func(s Status) bool { return s.State == Ready && s.PID != before.PID })
}

// A server that fails is tried again so many times, then left alone until
// somebody asks.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "starts")
	w := newEnv(t, quick, Stdio, "good")
	w.server = Server{Name: "fake", Transport: Stdio, Command: "sh", Args: []string{"-c", `echo x >> "$0"; echo no token >&2; exit 3`, count}}
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		t.Fatal(err)
	}
	gaveUp := func(s Status) bool { return s.State == Failed && !strings.HasSuffix(s.Why, "; retrying") }
	for round := 1; round <= 2; round++ {
		s := w.await("the end", gaveUp)
		if s.Why != "the server exited with code 3: no token" || s.Log != "no token" {
			t.Errorf("%+v", s)
		}
		text, err := os.ReadFile(count)
		if n := strings.Count(string(text), "x"); n != round*maxFailures || err != nil {
			t.Errorf("it was started %d times, %v", n, err)
		}
		w.await("another try", func(s Status) bool {
			if gaveUp(s) {
				_ = w.Restart(w.dir, "fake")
				return false
			}
			return true
		})
	}
}

// Servers on the network that do not speak the protocol, likewise.
func TestRawSites(t *testing.T) { //nolint:paralleltest // it counts goroutines
	sites := map[string]http.HandlerFunc{
		"garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Hello! I am a server.")) },
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		},
		"not json": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{Hello"))
		},
		"gigantic": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			piece := []byte(strings.Repeat("x", 1<<20))
			for range messageBytes>>20 + 2 {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		},
		"endless event": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			piece := []byte("data: " + strings.Repeat("x", 1<<20))
			for r.Context().Err() == nil {
				if _, err := w.Write(piece); err != nil {
					return
				}
				piece = []byte(strings.Repeat("x", 1<<20))
			}
		},
		"flood": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			piece := []byte(strings.Repeat("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n", 1000))
			for r.Context().Err() == nil {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		},
		"refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"is down": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the request is not seen
			<-r.Context().Done()
		},
		"hangs up": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		},
		"wants a login": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	}
	current := goleak.IgnoreCurrent()
	for _, transport := range []string{HTTP, SSE} {
		for name, handler := range sites {
			t.Run(transport+"/"+name, func(t *testing.T) {
				site := httptest.NewServer(handler)
				defer site.Close()
				defer site.CloseClientConnections()
				limits := quick
				if name == "hangs" || name == "endless event" || name == "flood" { // SSE may wait for the end of such a stream
					limits.start = hasty.start
				}
				set := New(Config{times: limits})
				defer set.Close()
				status, err := set.Test(t.Context(), t.TempDir(), Server{Name: "fake", Transport: transport, URL: site.URL, Local: true})
				if err != nil || status.Why == "" || status.State != Failed && status.State != NeedsLogin {
					t.Errorf("%+v, %v", status, err)
				}
				if (status.State == NeedsLogin) != (name == "wants a login") {
					t.Errorf("%+v", status)
				}
			})
		}
	}
	goleak.VerifyNone(t, current)
	t.Logf("mcp: 2 transports, %d cases", 2*len(sites))
}

// A server that never answers holds up nobody: Start and Tools return though it
// has not even been connected to.
func TestStartWaitsForNobody(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	set := New(Config{times: times{start: time.Hour, wait: time.Millisecond, pause: time.Hour, steady: time.Hour, refresh: time.Hour}})
	dir := t.TempDir()
	never := Server{Name: "never", Transport: HTTP, URL: "http://" + socket.Addr().String(), Local: true}
	mute := fakeEntry(t, Stdio, "mute")
	if err := set.Start(dir, []Server{never, mute}); err != nil {
		t.Fatal(err)
	}
	tools := set.Tools(dir, nil)
	if diff := cmp.Diff([]string{SearchTool}, names(tools)); diff != "" || !strings.Contains(tools[0].Description, "fake (starting), never (starting)") {
		t.Errorf("%v\n%s", tools, diff)
	}
	r, err := tools[0].Run(t.Context(), toolapi.Call{Input: []byte(`{}`)}) // it waits, and not for long
	if want := "There are no tools.\nThe MCP server fake is not ready: starting. Its tools may be there later: use mcp_search again.\n"; err != nil || !strings.HasPrefix(r.Content, want) {
		t.Errorf("%q, %v", r.Content, err)
	}
	if got := set.Tools(dir, func(name string) bool { return name == "mcp__other" }); len(got) > 0 {
		t.Errorf("who may have none is offered %v", names(got))
	}
	for _, s := range set.Status(dir) {
		if s.State != Starting {
			t.Errorf("%+v", s)
		}
	}
	if err := set.Restart(dir, "nobody"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("got %v", err)
	}
	set.Close() // nor does the end wait for it
	if err := set.Start(dir, []Server{mute}); err == nil {
		t.Error("a server was started after the end")
	}
}
