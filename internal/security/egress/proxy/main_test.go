package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEnv is a proxy and the internet behind it.
type testEnv struct {
	t     testing.TB
	net   *egresstest.Net
	proxy *Proxy

	mu        sync.Mutex
	hits      []string
	decisions []Decision
}

// Addresses of the world that are looked at by tests.
const (
	okAddr     = "93.184.216.10" // of ok.test, evil.test and all names below x.test, like the front of a big host
	flipAddr   = "93.184.216.11"
	cloudAddr  = "169.254.169.254"
	insideAddr = "10.0.0.5"
)

// newTestEnv has servers at public and at private addresses, and a name that
// changes its answer.
func newTestEnv(t testing.TB, hosts ...string) *testEnv {
	t.Helper()
	w := &testEnv{t: t, net: egresstest.New(t)}
	for _, name := range []string{
		"ok.test", "evil.test", "secret.evil.test", "ok.test.evil.test", "x.test", "a.x.test", "a.b.x.test", "evilx.test", "xn--bcher-kva.test",
		"api.openai.com", "eu.api.openai.com", "api.anthropic.com", "europe-west1-aiplatform.googleapis.com", "bedrock-runtime.us-east-1.amazonaws.com",
	} {
		w.net.Name(name, okAddr)
	}
	w.net.Name("flip.test", flipAddr)
	w.net.Name("flip.test", "127.0.0.1")
	w.net.Name("cloud.test", cloudAddr)
	w.net.Name("inside.test", insideAddr)
	w.net.Name("half.test", okAddr, insideAddr)
	w.net.Name("closed.test", "93.184.216.99")
	for _, addr := range []string{okAddr, flipAddr, cloudAddr, insideAddr, "127.0.0.1"} {
		for _, port := range []string{"80", "443", "8443"} {
			w.net.Serve(net.JoinHostPort(addr, port), w.site(addr))
		}
	}
	var err error
	w.proxy, err = Open(Config{Guard: w.net.Guard(), Hosts: hosts, Decided: w.decided})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close() })
	return w
}

// site notes who was asked for what. /to redirects to evil.test.
func (w *testEnv) site(addr string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name := "plain"
		if r.TLS != nil {
			name = r.TLS.ServerName
		}
		w.mu.Lock()
		w.hits = append(w.hits, fmt.Sprintf("hit %s %s %s%s", addr, name, r.Host, r.RequestURI))
		w.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/to") {
			http.Redirect(rw, r, "http://evil.test/stolen", http.StatusFound)
			return
		}
		fmt.Fprint(rw, "hello from "+r.Host)
	})
}

func (w *testEnv) decided(d Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decisions = append(w.decisions, d)
}

func (w *testEnv) close() {
	w.t.Helper()
	if err := w.proxy.Close(); err != nil {
		w.t.Error(err)
	}
}

// trace is all that has left the proxy: names that were looked up, addresses
// that were connected to, requests that servers got.
func (w *testEnv) trace() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, name := range w.net.Looked() {
		list = append(list, "look "+name)
	}
	for _, addr := range w.net.Dialed() {
		list = append(list, "dial "+addr)
	}
	return append(list, w.hits...)
}

func (w *testEnv) reported() []Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.decisions)
}

// dial connects to the proxy.
func (w *testEnv) dial() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("unix", w.proxy.Socket())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// ask sends a head, and after a 200 to CONNECT a TLS handshake for a name (or
// what then has, as it is) and a request. It returns the last answer, or what
// came instead.
func (w *testEnv) ask(head, sni, then string) string {
	w.t.Helper()
	conn := w.dial()
	if _, err := io.WriteString(conn, head); err != nil {
		return err.Error()
	}
	in := bufio.NewReader(conn)
	answer := read(in)
	if !strings.HasPrefix(head, "CONNECT ") || !strings.HasPrefix(answer, "200 ") {
		return answer
	}
	if then != "" {
		_, _ = io.WriteString(conn, then)
		rest, _ := io.ReadAll(in)
		return "tunnel: " + string(rest)
	}
	secure := tls.Client(conn, attacker(sni))
	if err := secure.Handshake(); err != nil {
		return "handshake: " + err.Error()
	}
	fmt.Fprintf(secure, "GET /inside HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", sni)
	return read(bufio.NewReader(secure))
}

// attacker does not mind whom it speaks to.
func attacker(sni string) *tls.Config { return &tls.Config{ServerName: sni, InsecureSkipVerify: true} }

// handshake begins TLS.
func handshake(conn net.Conn, sni string) error { return tls.Client(conn, attacker(sni)).Handshake() }

// read returns an answer's status and body.
func read(in *bufio.Reader) string {
	resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // it may be the tunnel
	if err != nil {
		return err.Error()
	}
	if resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == "" { // CONNECT
		return "200 "
	}
	length := resp.ContentLength
	if length < 0 {
		length = 1 << 20
	}
	body, _ := io.ReadAll(io.LimitReader(in, length))
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func connect(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

func get(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: ok.test\r\n\r\n"
}
