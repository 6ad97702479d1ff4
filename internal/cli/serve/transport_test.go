package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// certificate writes a certificate for 127.0.0.1 and its key to files.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	pool = x509.NewCertPool()
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(cert, certPEM, 0o600), os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)); err != nil || !pool.AppendCertsFromPEM(certPEM) {
		t.Fatal(err)
	}
	return cert, key, pool
}

// serveOn serves a real service on a listener of 'pawl serve', to everybody.
func serveOn(t *testing.T, cert, key string, change ...func(*httpapi.Config)) (svc pawl.Service, place listenAddress) {
	t.Helper()
	place, err := parseListen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := place.open(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	place = place.withPort(l)
	svc = servicetest.Local(t).Service
	c := httpapi.Config{
		Service: func(api.Principal) pawl.Service { return svc }, Hosts: place.hosts(nil),
		Auth: func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeAdmin}, nil },
	}
	for _, f := range change {
		f(&c)
	}
	srv := httpapi.New(c)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := errors.Join(srv.Close(ctx), <-done); err != nil {
			t.Error(err)
		}
	})
	return svc, place
}

// send sends a request.
func send(t *testing.T, c *http.Client, method, url string, header map[string]string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// TestHTTP2 checks that clients with TLS get HTTP/2, that many streams share a connection, that the
// origin of the server's own pages has the scheme https, and that HTTP/1.1 still works.
func TestHTTP2(t *testing.T) { //nolint:paralleltest // it sets environment variables
	cert, key, pool := certificate(t)
	svc, place := serveOn(t, cert, key)
	url := place.url(true)
	if text := place.banner(authenticator{file: "f"}, true); !strings.Contains(text, "listening on https://127.0.0.1:") || strings.Contains(text, "http://") {
		t.Errorf("the startup message is %q", text)
	}
	dials := 0
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
	}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport, Timeout: time.Minute}
	session, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		resp := send(t, c, "GET", url+"/v1/sessions/"+string(session.ID)+"/events", nil) //nolint:bodyclose // send closes it
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "id: 1") {
		}
		if resp.ProtoMajor != 2 || lines.Err() != nil {
			t.Fatalf("%s %s: %v", resp.Proto, resp.Status, lines.Err())
		}
	}
	if dials != 1 {
		t.Errorf("the streams take %d connections", dials)
	}
	for origin, want := range map[string]int{url: 204, place.url(false): 403, "https://127.0.0.1": 403} {
		if resp := send(t, c, "POST", url+"/v1/sessions/"+string(session.ID)+"/cancel", map[string]string{"Origin": origin}); resp.StatusCode != want || resp.ProtoMajor != 2 { //nolint:bodyclose // send closes it
			t.Errorf("from %s: %s %s, want %d", origin, resp.Proto, resp.Status, want)
		}
	}
	old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}, Timeout: time.Minute}
	if resp := send(t, old, "GET", url+"/healthz", nil); resp.ProtoMajor != 1 || resp.StatusCode != http.StatusOK { //nolint:bodyclose // send closes it
		t.Errorf("without HTTP/2: %s %s", resp.Proto, resp.Status)
	}
}

// TestSlowReaderOverHTTP2 checks that a client that reads nothing is disconnected.
func TestSlowReaderOverHTTP2(t *testing.T) { //nolint:paralleltest // it sets environment variables
	cert, key, pool := certificate(t)
	svc, place := serveOn(t, cert, key, func(c *httpapi.Config) { c.WriteTimeout = time.Second })
	session, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 { // more than the window of a stream
		if err := svc.Rename(t.Context(), session.ID, strings.Repeat("t", 900)); err != nil {
			t.Fatal(err)
		}
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 32 << 10},
	}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	resp := send(t, c, "GET", place.url(true)+"/v1/sessions/"+string(session.ID)+"/log", map[string]string{"Accept-Encoding": "identity"}) //nolint:bodyclose // send closes it
	time.Sleep(3 * time.Second)                                                                                                            // the client does not read for longer than WriteTimeout
	if n, err := io.Copy(io.Discard, resp.Body); err == nil || resp.ProtoMajor != 2 {
		t.Errorf("%s: all %d bytes came", resp.Proto, n)
	}
}

// TestNoUnencryptedHTTP2 checks that HTTP/2 needs TLS.
func TestNoUnencryptedHTTP2(t *testing.T) { //nolint:paralleltest // it sets environment variables
	_, place := serveOn(t, "", "")
	for what, text := range map[string]string{
		"prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"upgrade":         "GET /healthz HTTP/1.1\r\nHost: " + place.address + "\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
	} {
		c, err := (&net.Dialer{Timeout: time.Minute}).DialContext(t.Context(), "tcp", place.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprint(c, text); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 ") || strings.Contains(line, "101") {
			t.Errorf("%s: %q, %v", what, line, err)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://pawl.example.com": "https://pawl.example.com", "https://PAWL.example.com:443/": "https://pawl.example.com",
		"http://127.0.0.1:4747": "http://127.0.0.1:4747", "http://[::1]:80": "http://[::1]",
		"": "", "*": "", "null": "", "pawl.example.com": "", "https://": "", "https://*.example.com": "", "https://a.example.com/x": "",
		"https://a.example.com?x": "", "https://u@a.example.com": "", "file:///x": "", "https://a.example.com#x": "", "javascript:alert(1)": "",
	} {
		u, err := parseOrigin("origin", text)
		if (err == nil) != (want != "") || err == nil && u.String() != want {
			t.Errorf("%q: %v, %v, want %q", text, u, err, want)
		}
	}
}
