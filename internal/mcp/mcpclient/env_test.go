package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// transports are those that every case is run over.
var transports = []string{Stdio, HTTP, SSE}

// quick are the times of tests: what a server must not do is not waited for
// long, and what it must do is.
var quick = times{start: 30 * time.Second, wait: 30 * time.Second, pause: time.Millisecond, steady: time.Hour, refresh: time.Millisecond}

// env is a directory with one server in it.
type env struct {
	*Servers
	t      *testing.T
	dir    string
	server Server
	host   *person
}

// each runs a case over each transport.
func each(t *testing.T, way string, test func(t *testing.T, w *env)) {
	t.Helper()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t, quick, transport, way)
			test(t, w)
		})
	}
}

// newEnv starts a server that behaves in the given way.
func newEnv(t *testing.T, limits times, transport, way string) *env {
	t.Helper()
	w := &env{t: t, dir: t.TempDir(), server: fakeEntry(t, transport, way), host: &person{}}
	w.Servers = New(Config{times: limits, Taken: func(name string) bool { return name == "mcp__fake__taken" }})
	t.Cleanup(w.Close)
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		t.Fatal(err)
	}
	return w
}

// fakeEntry is the entry of a server that behaves in the given way.
func fakeEntry(t *testing.T, transport, way string) Server {
	t.Helper()
	if transport == Stdio {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return Server{
			Name: "fake", Transport: Stdio, Command: self, Args: []string{serveArg + way},
			Env: map[string]string{"GORACE": "atexit_sleep_ms=0"}, // or each takes a second to end
		}
	}
	return Server{Name: "fake", Transport: transport, URL: fakeSite(t, transport, way), Local: true}
}

// fakeSite serves on the network of this machine.
func fakeSite(t *testing.T, transport, way string) string {
	t.Helper()
	site := httptest.NewUnstartedServer(nil)
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	site.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		conns[c] = state != http.StateClosed
	}
	server := newServer(way, func() { // as a crash: no answer is finished, and none follows
		mu.Lock()
		defer mu.Unlock()
		_ = site.Listener.Close()
		for c := range conns {
			_ = c.Close()
		}
	})
	get := func(*http.Request) *sdk.Server { return server.Server }
	if transport == HTTP {
		site.Config.Handler = sdk.NewStreamableHTTPHandler(get, nil)
	} else {
		site.Config.Handler = sdk.NewSSEHandler(get, nil)
	}
	site.Start()
	t.Cleanup(func() {
		close(server.stop)
		site.CloseClientConnections()
		site.Close()
	})
	return site.URL + "/mcp"
}

// await returns the status once it is as wanted. A test that waits in vain ends
// with the binary's own timeout, and says what it waits for before.
func (w *env) await(what string, want func(Status) bool) Status {
	w.t.Helper()
	l, err := w.find(w.dir, w.server.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() {
		s, _ := l.status()
		fmt.Fprintf(os.Stderr, "%s: still waits for %s: %+v\n", w.t.Name(), what, s)
	})
	defer late.Stop()
	for {
		status, news := l.status()
		if want(status) {
			return status
		}
		select {
		case <-news:
		case <-l.ended:
			w.t.Fatalf("waits for %s, and the server is gone: %+v", what, status)
		}
	}
}

func (w *env) ready() Status {
	w.t.Helper()
	s := w.await("the server", func(s Status) bool {
		return s.State == Ready || s.State == Failed && !strings.Contains(s.Why, "tried again")
	})
	if s.State != Ready {
		w.t.Fatalf("the server is not ready: %+v", s)
	}
	return s
}

// tool returns a tool that is offered by its own name.
func (w *env) tool(name string) toolapi.Tool {
	w.t.Helper()
	tools := w.within(w.dir, orAll(nil), 1<<30)
	i := slices.IndexFunc(tools, func(t toolapi.Tool) bool { return t.Name == "mcp__fake__"+name })
	if i < 0 {
		w.t.Fatalf("there is no tool %s among %v", name, names(tools))
	}
	return tools[i]
}

func names(tools []toolapi.Tool) []string {
	var list []string
	for _, t := range tools {
		list = append(list, t.Name)
	}
	return list
}

var calls sync.Map

// input makes a call.
func (w *env) input(text string) toolapi.Call {
	n, _ := calls.LoadOrStore(w.t.Name(), new(int))
	count := n.(*int)
	*count++
	return toolapi.Call{
		Session: "s", ID: pawl.CallID(fmt.Sprintf("call%d", *count)), Input: json.RawMessage(text), Dir: w.dir,
		Progress: func(string) {}, Caller: w.host,
	}
}

// call runs a tool as the loop does: what it would touch is named first.
func (w *env) call(name, input string) (pawl.Result, error) {
	w.t.Helper()
	r, err := run(w.t.Context(), w.tool(name), w.input(input))
	r.Content = untrusted(w.t, "MCP fake/"+name, r.Content)
	return r, err
}

var untrustedText = regexp.MustCompile(`(?s)^What stands between the two lines with (\w{16}) comes from outside\. [^\n]*\n<untrusted (\w{16}) source="([^"]*)">\n(.*)\n</untrusted (\w{16})>$`)

// untrusted returns what a server has said, which is marked as data; nothing is
// left as it is.
func untrusted(t *testing.T, source, content string) string {
	t.Helper()
	if content == "" {
		return ""
	}
	m := untrustedText.FindStringSubmatch(content)
	if m == nil || m[1] != m[2] || m[1] != m[5] || m[3] != source {
		t.Fatalf("it is not marked as untrusted as %s: %.300q", source, content)
	}
	return m[4]
}

func run(ctx context.Context, t toolapi.Tool, call toolapi.Call) (pawl.Result, error) {
	if _, err := t.Access(ctx, call); err != nil {
		return pawl.Result{}, err
	}
	return t.Run(ctx, call)
}

func (w *env) text(name, input string) string {
	w.t.Helper()
	r, err := w.call(name, input)
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return r.Content
}

func (w *env) access(name, input string) string {
	w.t.Helper()
	list, err := w.tool(name).Access(w.t.Context(), w.input(input))
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprint(list)
}

// person answers asks.
type person struct {
	toolapi.Session
	mu     sync.Mutex
	asks   []pawl.Ask
	answer func(pawl.Ask) pawl.Answer // nil denies
}

func (p *person) Ask(_ context.Context, _ pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks = append(p.asks, a)
	if p.answer == nil {
		return pawl.Answer{Outcome: pawl.OutcomeDenied}, nil
	}
	answer := p.answer(a)
	return answer, a.Check(answer)
}
