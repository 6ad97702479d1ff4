package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// fuzzed is the network of FuzzRequest: it knows every name, and notes what it
// is asked for.
type fuzzed struct {
	mu     sync.Mutex
	looked []string
	dialed []string
	got    bytes.Buffer
}

func (f *fuzzed) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked = append(f.looked, host)
	if host == "inside.test" {
		return []netip.Addr{netip.MustParseAddr(insideAddr)}, nil
	}
	return []netip.Addr{netip.MustParseAddr(okAddr)}, nil
}

func (f *fuzzed) dial(_ context.Context, _, address string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialed = append(f.dialed, address)
	return &said{in: strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), out: f}, nil
}

func (f *fuzzed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.Write(b)
}

// said is a connection whose other side has said it all.
type said struct {
	in  io.Reader
	out io.Writer
}

func (s *said) Read(b []byte) (int, error)     { return s.in.Read(b) }
func (s *said) Write(b []byte) (int, error)    { return s.out.Write(b) }
func (*said) Close() error                     { return nil }
func (*said) CloseWrite() error                { return nil }
func (*said) LocalAddr() net.Addr              { return nil }
func (*said) RemoteAddr() net.Addr             { return nil }
func (*said) SetDeadline(time.Time) error      { return nil }
func (*said) SetReadDeadline(time.Time) error  { return nil }
func (*said) SetWriteDeadline(time.Time) error { return nil }

// helloFor is the first message of a TLS client.
func helloFor(f testing.TB, name string) string {
	f.Helper()
	var b bytes.Buffer
	if err := handshake(&said{in: strings.NewReader(""), out: &b}, name); !errors.Is(err, io.EOF) {
		f.Fatal(err)
	}
	return b.String()
}

// FuzzRequest: whatever a client sends, only what was named is looked up and
// connected to, and a server gets one request that names it, or TLS that does.
func FuzzRequest(f *testing.F) {
	for head := range malformedRequests {
		f.Add([]byte(head))
	}
	for _, a := range attacks {
		f.Add([]byte(a.head))
	}
	for _, name := range []string{"ok.test", "evil.test", ""} {
		f.Add([]byte(connect("ok.test:443") + helloFor(f, name)))
		f.Add([]byte(connect("a.x.test:8443") + helloFor(f, name)))
	}
	f.Add([]byte("POST http://ok.test/ HTTP/1.1\r\nHost: x\r\nConnection: a, b\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n"))
	f.Add([]byte("PUT http://ok.test:80/a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabcGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		far := &fuzzed{}
		var reported []Decision
		p, err := newProxy(Config{
			Guard:   &egress.Guard{Resolver: far, Dial: far.dial},
			Hosts:   []string{"ok.test", "ok.test:80", "*.x.test:8443", "inside.test", "169.254.169.254"},
			Decided: func(d Decision) { reported = append(reported, d) },
		})
		if err != nil {
			t.Fatal(err)
		}
		var answer bytes.Buffer
		p.handle(t.Context(), &said{in: bytes.NewReader(sent), out: &answer})
		far.check(t, reported)
		if answer.Len() > 0 && !strings.HasPrefix(answer.String(), "HTTP/1.1 ") {
			t.Errorf("the answer is %q", answer.String())
		}
	})
}

func (f *fuzzed) check(t *testing.T, reported []Decision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range f.looked {
		if name != "ok.test" && name != "inside.test" && !strings.HasSuffix(name, ".x.test") {
			t.Errorf("%q was looked up", name)
		}
	}
	for _, addr := range f.dialed {
		if !slices.Contains([]string{okAddr + ":80", okAddr + ":443", okAddr + ":8443"}, addr) {
			t.Errorf("connected to %s", addr)
		}
	}
	if len(reported) > 1 || len(f.dialed) > 1 || len(f.dialed) == 1 && len(reported) == 0 {
		t.Errorf("connected to %v, told %v", f.dialed, reported)
	}
	if f.got.Len() == 0 {
		return
	}
	in := bufio.NewReader(&f.got)
	if first, _ := in.Peek(1); first[0] == recordHandshake {
		if h, err := readHello(in); err != nil || h.name != reported[0].Host {
			t.Errorf("the server of %s got %+v, %v", reported[0].Host, h, err)
		}
		return
	}
	req, err := http.ReadRequest(in)
	if err != nil || req.Host != "ok.test" {
		t.Fatalf("the server got %+v, %v", req, err)
	}
	if _, err := io.Copy(io.Discard, req.Body); err == nil {
		if rest, _ := io.ReadAll(in); len(rest) > 0 {
			t.Errorf("behind the request the server got %q", rest)
		}
	}
}
