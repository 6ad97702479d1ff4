package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// client is a program that knows of the proxy and trusts the world's servers.
func (w *testEnv) client() *http.Client {
	proxy := &url.URL{Scheme: "http", Host: "proxy"}
	transport := &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		TLSClientConfig: w.net.Guard().TLS,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", w.proxy.Socket())
		},
	}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func fetch(c *http.Client, url string) string {
	resp, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s %s", resp.StatusCode, resp.Header.Get("Location"), text)
}

// TestWorks: whatever is named can be reached, and each request is reported.
func TestWorks(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "ok.test", "OK.test:80", "*.X.test:8443", "*.x.test", "bücher.test", "93.184.216.10", "closed.test", "nowhere.test", "api.openai.com")
	c := w.client()
	allowed := func(host string, port uint16) Decision {
		return Decision{Host: host, Port: port, Allowed: true, Addr: fmt.Sprintf("%s:%d", okAddr, port)}
	}
	tests := []struct {
		url, want string
		reported  Decision
	}{
		{"https://ok.test/", "200  hello from ok.test", allowed("ok.test", 443)},
		{"http://ok.test/a?b", "200  hello from ok.test", allowed("ok.test", 80)},
		{"https://a.x.test/", "200  hello from a.x.test", allowed("a.x.test", 443)},
		{"https://a.b.x.test:8443/", "200  hello from a.b.x.test:8443", allowed("a.b.x.test", 8443)},
		{"https://xn--bcher-kva.test/", "200  hello from xn--bcher-kva.test", allowed("xn--bcher-kva.test", 443)},
		{"https://api.openai.com/", "200  hello from api.openai.com", allowed("api.openai.com", 443)}, // by its name
		{"http://ok.test/to", "302 http://evil.test/stolen ", allowed("ok.test", 80)},                 // E13: for the client to follow, and be refused
		{"http://evil.test/stolen", "403  pawl: evil.test is not one of", Decision{Host: "evil.test", Port: 80, Why: "evil.test is not one of"}},
		{"http://ok.test/http://evil.test/?u=http://evil.test/", "200  hello from ok.test", allowed("ok.test", 80)}, // E14: what counts is who is asked
		{"https://evil.test/", "pawl: evil.test is not one of the hosts that this command may reach: ok.test, ok.test:80, *.x.test:8443", Decision{Host: "evil.test", Port: 443, Why: "evil.test is not one of"}},
		{"https://closed.test/", "closed.test cannot be reached: dial 93.184.216.99:443: connection refused", Decision{Host: "closed.test", Port: 443, Allowed: true, Addr: "93.184.216.99:443", Why: "closed.test cannot be reached: dial"}},
		{"https://nowhere.test/", "nowhere.test cannot be reached: resolve nowhere.test: lookup nowhere.test: no such host", Decision{Host: "nowhere.test", Port: 443, Allowed: true, Why: "nowhere.test cannot be reached: resolve"}},
	}
	for i, test := range tests {
		if got := fetch(c, test.url); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
		reported := w.reported()
		if len(reported) != i+1 {
			t.Fatalf("%s: %d decisions", test.url, len(reported))
		}
		if last := reported[i]; strings.HasPrefix(last.Why, test.reported.Why) {
			last.Why = test.reported.Why
			if diff := cmp.Diff(test.reported, last); diff != "" {
				t.Errorf("%s: %s", test.url, diff)
			}
		} else {
			t.Errorf("%s: %+v", test.url, last)
		}
	}
	for _, line := range w.trace() {
		if strings.Contains(line, "look evil.test") || strings.Contains(line, " evil.test/") {
			t.Errorf("the network has heard of it: %s", line)
		}
	}
	if got := w.ask(connect("93.184.216.10:443"), "", ""); got != "200 hello from " {
		t.Errorf("an address that was named: %s", got)
	}
}

// TestPrivate: what the guard was instructed to allow, it allows here too.
func TestPrivate(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Name("registry.test", insideAddr)
	n.Serve(insideAddr+":443", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "inside") }))
	guard := n.Guard()
	guard.Allow = func(host string, _ netip.Addr) bool { return host == "registry.test" }
	p, err := Open(Config{Guard: guard, Hosts: []string{"registry.test"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{t: t, net: n, proxy: p}
	t.Cleanup(w.close)
	if got := fetch(w.client(), "https://registry.test/"); got != "200  inside" {
		t.Error(got)
	}
}

// raw serves an answer as it is.
func raw(n *egresstest.Net, name, answer string) {
	n.Site(name, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answer)
	}))
}

// TestForward: a plain request is written anew, without what is meant for us.
func TestForward(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Site("ok.test", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = r.Header.Write(rw)
		fmt.Fprintf(rw, "%s %s %s %d %q %q", r.Method, r.Host, r.RequestURI, r.ContentLength, r.TransferEncoding, body)
	}))
	raw(n, "odd.test", "HTTP/1.1 302 Found\r\nConnection: X-Hop\r\nX-Hop: 1\r\nProxy-Authenticate: Basic\r\nKeep-Alive: 9\r\nX-Kept: 1\r\nLocation: ftp://evil.test/\r\n\r\n")
	raw(n, "switch.test", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
	raw(n, "flood.test", "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 2*maxAnswer)+"\r\n\r\n")
	p, err := Open(Config{Guard: n.Guard(), Hosts: []string{"*.test:80"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{t: t, net: n, proxy: p}
	t.Cleanup(w.close)
	for _, test := range []struct{ name, request, want string }{
		{
			"for the next hop", "GET http://ok.test/x?y HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: secret\r\nProxy-Connection: keep-alive\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 1\r\nAccept: a\r\nAccept: b\r\n\r\n",
			"200 Accept: a\r\nAccept: b\r\nConnection: close\r\nGET ok.test /x?y 0 [] \"\"",
		},
		{
			"a body", "POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nUser-Agent: me\r\nContent-Length: 5\r\n\r\nhelloGET http://evil.test/ HTTP/1.1\r\n\r\n",
			"200 Connection: close\r\nContent-Length: 5\r\nUser-Agent: me\r\nPOST ok.test / 5 [] \"hello\"",
		},
		{
			"a body in chunks", "PUT http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n",
			"200 Connection: close\r\nPUT ok.test / -1 [\"chunked\"] \"hello\"",
		},
		{"broken chunks", "PUT http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhello\r\n", "502 pawl: ok.test did not answer"},
		{"another protocol", get("http://switch.test/"), "502 pawl: switch.test did not answer: the server switched protocols without being asked"},
		{"a flood of header", get("http://flood.test/"), "502 pawl: flood.test did not answer"},
	} {
		if got := w.ask(test.request, "", ""); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
	resp, err := w.client().Get("http://odd.test/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for _, name := range []string{"X-Hop", "Proxy-Authenticate", "Keep-Alive"} {
		if resp.Header.Get(name) != "" {
			t.Errorf("%s was passed on", name)
		}
	}
	if resp.StatusCode != http.StatusFound || resp.Header.Get("X-Kept") == "" || resp.Header.Get("Location") != "ftp://evil.test/" {
		t.Errorf("got %s %v", resp.Status, resp.Header)
	}
}

// TestAnswer: nothing that others have said ends a line or steers a terminal.
func TestAnswer(t *testing.T) {
	t.Parallel()
	r := &refusal{status: http.StatusForbidden, why: "a\r\nX: y\x1b[2J\u00fc" + strings.Repeat("b", 2*maxReason), advice: "c\n\nd"}
	head, body, _ := strings.Cut(string(r.answer()), "\r\n\r\n")
	first, _, _ := strings.Cut(head, "\r\n")
	if !strings.HasPrefix(first, "HTTP/1.1 403 pawl: a??X: y?[2J?bb") || len(first) > maxReason+20 || strings.Contains(head, "\nX: y") {
		t.Errorf("got %q", head)
	}
	if !strings.HasSuffix(body, "bb\nc??d\n") || !strings.Contains(head, fmt.Sprintf("Content-Length: %d\r\n", len(body))) {
		t.Errorf("got %q", body)
	}
}

// TestHello: only a handshake that can be read, and hides nothing, goes on.
func TestHello(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "ok.test")
	for name, then := range map[string]string{
		"SSH":                "SSH-2.0-OpenSSH_9\r\n",
		"a request":          "GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n",
		"an alert first":     "\x15\x03\x01\x00\x02\x01\x5a" + helloFor(t, "ok.test"),
		"an old hello":       "\x80\x2e\x01\x03\x01",
		"garbage in TLS":     "\x16\x03\x01\x00\x05hello",
		"too long":           "\x16\x03\x01\x40\x00" + strings.Repeat("\x01", 1<<16),
		"another message":    "\x16\x03\x01\x00\x04\x02\x00\x00\x00",
		"many small records": "\x16\x03\x01\x00\x04\x01\x00\x40\x00" + strings.Repeat("\x16\x03\x01\x00\x01x", 1<<13),
	} {
		if got := w.ask(connect("ok.test:443"), "", then); got != "tunnel: " {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for _, line := range w.trace() {
		if strings.HasPrefix(line, "hit") {
			t.Error(line)
		}
	}
	for _, d := range w.reported() {
		if d.Allowed || !strings.HasPrefix(d.Why, "the data after CONNECT is not TLS") || strings.Contains(d.Why, "timeout") || d.Addr != okAddr+":443" {
			t.Errorf("%+v", d)
		}
	}
	for _, h := range []struct {
		hello hello
		host  string
		fits  bool
	}{
		{hello{name: "ok.test"}, "ok.test", true},
		{hello{name: "OK.Test"}, "ok.test", true},
		{hello{name: "o\u212a.test"}, "ok.test", false}, // the sign of Kelvin
		{hello{name: "ok.test", hidden: true}, "ok.test", false},
		{hello{name: ""}, "93.184.216.10", true},
		{hello{name: "93.184.216.10"}, "93.184.216.10", false},
		{hello{name: ""}, "ok.test", false},
	} {
		if err := h.hello.fits(h.host); (err == nil) != h.fits {
			t.Errorf("%+v for %s: %v", h.hello, h.host, err)
		}
	}
}

// TestHiddenName: a client of the standard library that encrypts its hello.
func TestHiddenName(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "ok.test")
	conn := w.dial()
	if _, err := io.WriteString(conn, connect("ok.test:443")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
		t.Fatal(err)
	}
	err := tls.Client(conn, &tls.Config{ServerName: "evil.test", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: hiddenConfig(t, "ok.test")}).Handshake()
	if err == nil {
		t.Error("it got through")
	}
	if reported := w.reported(); len(reported) != 1 || reported[0].Why != errHidden.Error() {
		t.Errorf("%+v", reported)
	}
}

// TestSocket: nobody else can come to it, and it goes.
func TestSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p, err := Open(Config{Dir: dir, Guard: &egress.Guard{}})
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Dir(p.Socket())
	if info, err := os.Lstat(own); err != nil || info.Mode() != os.ModeDir|0o700 || filepath.Dir(own) != dir {
		t.Errorf("%s: %v, %v", own, info, err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for name, c := range map[string]Config{
		"the guard is missing":         {Dir: dir},
		"limited to about 100":         {Dir: longDir(t, dir), Guard: &egress.Guard{}},
		`invalid host "a b"`:           {Dir: dir, Guard: &egress.Guard{}, Hosts: []string{"ok.test", "a b"}},
		"no such file":                 {Dir: filepath.Join(dir, "none"), Guard: &egress.Guard{}},
		`invalid host "": it is empty`: {Dir: dir, Guard: &egress.Guard{}, Hosts: []string{""}},
	} {
		if _, err := Open(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func longDir(t *testing.T, dir string) string {
	t.Helper()
	long := filepath.Join(dir, strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(long); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return long
}
