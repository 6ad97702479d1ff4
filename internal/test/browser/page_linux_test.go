//go:build e2e

package browser_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/test/browser"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// site is the page behind one address with a server, as examples/page/README.md describes it. It cuts
// connections.
type site struct {
	*httptest.Server
	target atomic.Pointer[url.URL]
	mu     sync.Mutex
	random *rand.Rand
	cuts   int // that are left
}

func newSite(t *testing.T, cuts int) *site {
	t.Helper()
	s := &site{cuts: cuts, random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // not a secret
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(s.target.Load())
		r.Out.Host = r.In.Host
	}}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("../../../examples/page")))
	for _, path := range []string{"/v1/", "/signin", "/signin/", "/signin.js", "/signout"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if s.target.Load() == nil { // it is being restarted
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			if strings.HasSuffix(r.URL.Path, "/stream") || r.URL.Path == "/v1/events" {
				w = s.cutting(w)
			}
			proxy.ServeHTTP(w, r)
		})
	}
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.CloseClientConnections)
	return s
}

// cutting returns a writer whose connection is cut after a while, if cuts are left.
func (s *site) cutting(w http.ResponseWriter) http.ResponseWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cuts == 0 {
		return w
	}
	return &cutter{ResponseWriter: w, site: s, left: s.random.IntN(3000)}
}

// cutter cuts the connection after a number of bytes.
type cutter struct {
	http.ResponseWriter
	site *site
	left int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(text []byte) (int, error) {
	if len(text) < c.left {
		c.left -= len(text)
		return c.ResponseWriter.Write(text)
	}
	_, _ = c.ResponseWriter.Write(text[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush() // a part of a message arrives
	c.site.mu.Lock()
	c.site.cuts = max(0, c.site.cuts-1)
	c.site.mu.Unlock()
	panic(http.ErrAbortHandler)
}

func (s *site) cutsLeft() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts
}

// server is a running `pawl serve`.
type server struct {
	*exec.Cmd
	link string
}

// serve starts a server for the site.
func serve(t *testing.T, w *harness.Workdir, s *site, flags ...string) server {
	t.Helper()
	cmd := w.Command(append([]string{"serve", "--listen", "127.0.0.1:0", "--url", s.URL, "--dir", w.Dir, "--log", "none"}, flags...)...)
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	started := server{Cmd: cmd}
	lines := bufio.NewScanner(output)
	for (s.target.Load() == nil || started.link == "" && slices.Contains(flags, "--link")) && lines.Scan() {
		line := lines.Text()
		if address, ok := strings.CutPrefix(line, "pawl: listening on "); ok {
			target, err := url.Parse(strings.Fields(address)[0])
			if err != nil {
				t.Fatal(err)
			}
			s.target.Store(target)
		}
		if i := strings.Index(line, s.URL+"/signin"); i >= 0 {
			started.link = strings.Fields(line[i:])[0]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, output) }()
	return started
}

// shown is an item as the page has it.
type shown struct {
	ID, Kind, State, Text string
}

const pageItems = `[...items.values()].sort((a, b) => a.seq - b.seq || (a.part ?? 0) - (b.part ?? 0)).map(it => ({ID: it.id, Kind: it.kind, State: it.state, Text: it.text ?? ''}))`

// TestExamplePage checks that a person can sign in to the example page, follow a session, answer the
// permission request of a subagent and send a prompt, while connections are cut and the server is killed.
func TestExamplePage(t *testing.T) {
	t.Parallel()
	w := harness.NewWorkdir(t, harness.Binary(t, ""), "")
	lines := []string{`{"text":"I let a helper do it.","deltas":6,"delay_ms":5,"calls":[{"name":"task","input":{"description":"x","prompt":"do it","agent":"general"}}]}`}
	for n := range 12 {
		lines = append(lines, fmt.Sprintf(`{"reasoning":"Step %d.","text":"Now I run command %d, and tell you about it in some words.","deltas":8,"delay_ms":5,"calls":[{"name":"bash","input":{"command":"seq %d"}}]}`, n, n, n+20))
	}
	lines = append(lines, `{"text":"All is done."}`, `{"text":"You are welcome."}`,
		`{"agent":"general","calls":[{"name":"write","input":{"path":"made-by-subagent","content":"x"}}]}`, `{"agent":"general","text":"Made."}`)
	w.Write(t, "model.jsonl", strings.Join(lines, "\n"))

	site := newSite(t, 20)
	first := serve(t, w, site, "--link")
	page := browser.Open(t)
	page.Go(first.link)
	page.Click("button", "Sign in")
	page.Until("the browser is signed in", `document.body.innerText.includes('You are signed in')`)
	page.Go(site.URL + "/")

	var id string
	page.Eval(fmt.Sprintf(`post('/v1/sessions', {dir: %q}).then(r => r.json()).then(s => s.id)`, w.Dir), &id)
	page.Eval(fmt.Sprintf(`post('/v1/sessions/%s/prompts', {parts: [{type: 'text', text: 'Please do it.'}], model: 'script:%s/model.jsonl', mode: 'ask'})`, id, w.Dir), nil)
	page.Click("li", "Please do it.")
	page.Until("the request of the subagent is shown", `document.querySelector('.ask')?.textContent.includes('Edit made-by-subagent')`)

	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	site.target.Store(nil)
	serve(t, w, site)
	page.Click(".ask button", "Allow once")
	page.Until("the turn has ended", `[...items.values()].some(it => it.text === 'All is done.') && [...items.values()].at(-1).kind === 'turn_end'`)

	page.Eval(`document.querySelector('input').value = 'Thank you.'; document.querySelector('form').requestSubmit()`, nil)
	page.Until("the second turn has ended", `[...items.values()].filter(it => it.kind === 'turn_end').length === 2`)
	wait.Until(t, "all connections are cut that will be", func() bool {
		if site.cutsLeft() == 0 {
			return true
		}
		site.CloseClientConnections()
		return false
	})
	var got, want []shown
	page.Until("the page shows the newest items", fmt.Sprintf(`fetch('/v1/sessions/%s/items?limit=500').then(r => r.json()).then(l => l.items.length === items.size)`, id))
	page.Eval(pageItems, &got)
	page.Eval(fmt.Sprintf(`fetch('/v1/sessions/%s/items?limit=500').then(r => r.json()).then(l => l.items.map(it => ({ID: it.id, Kind: it.kind, State: it.state, Text: it.text ?? ''})))`, id), &want)
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 40 {
		t.Errorf("%d items; server -, page +\n%s", len(got), diff)
	}
	var drawn int
	page.Eval(`document.querySelectorAll('.item').length`, &drawn)
	if drawn != len(got) {
		t.Errorf("%d items are drawn, want %d", drawn, len(got))
	}
	if _, err := os.Stat(w.Dir + "/made-by-subagent"); err != nil {
		t.Error(err)
	}
}

// TestPasskey checks that a person can add a passkey, sign out, and sign in with it.
func TestPasskey(t *testing.T) {
	t.Parallel()
	w := harness.NewWorkdir(t, harness.Binary(t, ""), "")
	site := newSite(t, 0)
	site.URL = strings.Replace(site.URL, "127.0.0.1", "localhost", 1) // browsers have no passkeys for addresses
	started := serve(t, w, site, "--link")
	page := browser.Open(t)
	page.AddAuthenticator()
	page.Go(started.link)
	page.Click("button", "Sign in")
	page.Until("the browser is signed in", `document.body.innerText.includes('You are signed in')`)
	page.Click("button:not([hidden])", "Add a passkey")
	page.Until("the passkey is added", `document.getElementById('status').textContent.startsWith('Added passkey-')`)
	page.Click("button", "Sign out")
	page.Until("the browser is signed out", `document.body.innerText.includes('You are not signed in')`)
	page.Click("button:not([hidden])", "Sign in with a passkey")
	page.Until("the browser is signed in again", `document.body.innerText.includes('You are signed in')`)
	var names []string
	page.Eval(`fetch('/v1/devices').then(r => r.json()).then(d => [d.devices, d.passkeys].map(l => l.map(x => x.name.split('-')[0]).join()))`, &names)
	if diff := cmp.Diff([]string{"browser", "passkey"}, names); diff != "" {
		t.Errorf("devices and passkeys: want -, got +\n%s", diff)
	}
}
