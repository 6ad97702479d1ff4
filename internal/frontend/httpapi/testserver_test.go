package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app/management"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// patience ends a test in which what should come does not.
const patience = time.Minute

// testServer is a server on an address, with a real service behind it, and one who asks.
// Its tokens are called as the scope that they have.
type testServer struct {
	*testing.T
	*httpapi.Server
	svc    pawl.Service
	store  store.Store // of a real one
	access *access.Access
	dir    string // where sessions work
	addr   string
	http   *http.Client
}

type tokenStore = store.Tokens

// newTestServer starts one. A nil service means a real one.
func newTestServer(t *testing.T, svc pawl.Service, change ...func(*httpapi.Config)) *testServer {
	t.Helper()
	var store store.Store
	if svc == nil {
		h := servicetest.Local(t)
		svc, store = h.Service, h.Store
	}
	acc := new(access.Access)
	acc.Tokens, _ = store.(tokenStore)
	auth := func(r *http.Request) (api.Principal, error) {
		if secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer pawl_"); ok {
			return acc.Auth(r.Context(), "pawl_"+secret)
		}
		return byToken(r)
	}
	c := httpapi.Config{
		Service: func(p api.Principal) pawl.Service { return acc.For(svc, p) }, Auth: auth, Devices: acc, Hosts: []string{"127.0.0.1"}, Version: "1.2.3",
		Missions: mission.Operations{}, Manage: &management.Manager{Usable: configcmd.Usable},
	}
	for _, f := range change {
		f(&c)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{ExpectContinueTimeout: patience}
	b := &testServer{T: t, Server: httpapi.New(c), svc: svc, store: store, access: acc, dir: t.TempDir(), addr: l.Addr().String(), http: &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	done := make(chan error, 1)
	go func() { done <- b.Serve(l) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := errors.Join(b.Close(ctx), <-done); err != nil {
			t.Error(err)
		}
	})
	return b
}

func byToken(r *http.Request) (api.Principal, error) {
	scope, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch s := api.Scope(scope); s {
	case api.ScopeRead, api.ScopeRun, api.ScopeApprove, api.ScopeAdmin:
		return api.Principal{Scope: s}, nil
	case "limited":
		return api.Principal{}, fmt.Errorf("too often: %w", api.ErrLimited)
	default:
		return api.Principal{}, errors.New("the word is sesame") // what nobody may read
	}
}

// request is one that a test sends. What is not said is as an honest client has it.
type request struct {
	method, path string
	token        string // "" means admin, "-" none
	body         string
	header       map[string]string // "" takes one out
}

func (b *testServer) request(q request) *http.Request {
	b.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(b.Context(), q.method, "http://"+b.addr+q.path, body)
	if err != nil {
		b.Fatal(err)
	}
	switch q.token {
	case "":
		r.Header.Set("Authorization", "Bearer admin")
	case "-":
	default:
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range q.header {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

// reply is what came.
type reply struct {
	status int
	header http.Header
	text   string
	fault  api.FaultBody
}

func (b *testServer) send(q request) reply {
	b.Helper()
	resp, err := b.http.Do(b.request(q))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	out := reply{status: resp.StatusCode, header: resp.Header, text: string(text)}
	var fault api.Fault
	if resp.StatusCode >= 300 && json.Unmarshal(text, &fault) == nil {
		out.fault = fault.Error
	}
	return out
}

// ask sends as admin and reads a good answer into out, if that is not nil.
func (b *testServer) ask(status int, method, path, body string, out any) {
	b.Helper()
	got := b.send(request{method: method, path: path, body: body})
	if got.status != status {
		b.Fatalf("%s %s: %d %s, want %d", method, path, got.status, got.text, status)
	}
	if out == nil && got.text != "" {
		b.Errorf("%s %s says %q and should say nothing", method, path, got.text)
	}
	if out != nil {
		if err := strictjson.Decode([]byte(got.text), out); err != nil {
			b.Errorf("%s %s: %v: %s", method, path, err, got.text)
		}
	}
}

// refused sends as admin and checks how it is refused.
func (b *testServer) refused(status int, code pawl.Code, method, path, body string) {
	b.Helper()
	b.refuses(status, code, request{method: method, path: path, body: body})
}

func (b *testServer) refuses(status int, code pawl.Code, q request) reply {
	b.Helper()
	got := b.send(q)
	if got.status != status || got.fault.Code != code {
		b.Errorf("%s %s %.60s: %d %s, want %d %s", q.method, q.path, q.body, got.status, got.text, status, code)
	}
	if got.fault.Request != got.header.Get("X-Request-Id") || got.fault.Message == "" {
		b.Errorf("%s %s: the fault is not whole: %s", q.method, q.path, got.text)
	}
	return got
}

// create makes a session by the service.
func (b *testServer) create() pawl.SessionID {
	b.Helper()
	s, err := b.svc.Create(b.Context(), pawl.NewSession{Dir: b.dir})
	if err != nil {
		b.Fatal(err)
	}
	return s.ID
}

// script writes a script and returns the model that follows it, as JSON.
func (b *testServer) script(lines ...string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	return "script:" + path
}

// prompt is the body of sendPrompt.
func prompt(model, more string) string {
	return fmt.Sprintf(`{"parts":[{"type":"text","text":"go"}],"model":%q%s}`, model, more)
}

// waits is a reply whose call ends when the workspace has a file of this name.
func waits(name string) string {
	return fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":"until [ -e %s ]; do sleep 0.01; done"}}]}`, name)
}

func (b *testServer) release(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o600); err != nil {
		b.Fatal(err)
	}
}

// until reads events from the service until one is wanted, and returns that.
func (b *testServer) until(id pawl.SessionID, wanted func(pawl.Event) bool) pawl.Event {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	for e, err := range b.svc.Events(ctx, id, 0) {
		if err != nil {
			b.Fatal(err)
		}
		if wanted(e) {
			return e
		}
	}
	b.Fatal("what was waited for did not come")
	return pawl.Event{}
}

func is[B pawl.Body](e pawl.Event) bool {
	_, ok := e.Body.(B)
	return ok
}

// finished waits for the session's first turn to end.
func (b *testServer) finished(id pawl.SessionID) {
	b.Helper()
	b.until(id, is[pawl.TurnFinished])
}

// stream is an open event stream.
type eventStream struct {
	b     *testServer
	resp  *http.Response
	lines *bufio.Scanner
}

// open opens a stream; the query begins with a question mark.
func (b *testServer) open(id pawl.SessionID, query string, header map[string]string) *eventStream {
	b.Helper()
	return b.openPath("/v1/sessions/"+string(id)+"/events"+query, header)
}

func (b *testServer) openPath(path string, header map[string]string) *eventStream {
	b.Helper()
	resp, err := b.http.Do(b.request(request{method: "GET", path: path, header: header})) //nolint:bodyclose // close does
	if err != nil {
		b.Fatal(err)
	}
	s := &eventStream{b: b, resp: resp, lines: bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, 1<<26)
	b.Cleanup(s.close)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.Fatalf("the stream: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	return s
}

func (s *eventStream) close() { _ = s.resp.Body.Close() }

// block is what comes between two empty lines, by the names of its fields.
func (s *eventStream) block() (map[string]string, bool) {
	s.b.Helper()
	timer := time.AfterFunc(patience, s.close)
	defer timer.Stop()
	fields := map[string]string{}
	for s.lines.Scan() {
		line := s.lines.Text()
		if line == "" {
			return fields, true
		}
		name, value, _ := strings.Cut(line, ": ")
		fields[name] = value
	}
	return nil, false
}

// next is the next durable event, whose id is its number.
func (s *eventStream) next() pawl.Event {
	s.b.Helper()
	for {
		fields, ok := s.block()
		if !ok {
			s.b.Fatal("the stream ended")
		}
		if fields["data"] == "" || fields["id"] == "" {
			continue
		}
		var e pawl.Event
		if err := json.NewDecoder(bytes.NewReader([]byte(fields["data"]))).Decode(&e); err != nil {
			s.b.Fatal(err)
		}
		if fields["id"] != fmt.Sprint(e.Seq) {
			s.b.Errorf("event %d has the id %s", e.Seq, fields["id"])
		}
		return e
	}
}
