package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// quick cuts off soon who does not go on. One who reads has a second, since tests
// may run on a busy machine.
func quick(c *httpapi.Config) {
	c.HeaderTimeout, c.BodyTimeout, c.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond, time.Second
}

// dial connects by hand. What takes longer than patience fails.
func (b *testServer) dial() net.Conn {
	b.Helper()
	c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", b.addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		b.Fatal(err)
	}
	return c
}

// One who begins a request and does not go on is cut off, whether they may ask or
// not, and whether somebody wants their body or not.
func TestSlowRequests(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, quick)
	post := func(path, token, length string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, b.addr, token, length)
	}
	for name, text := range map[string]string{
		"nothing":                         "",
		"half a line":                     "GET /v1/sess",
		"half a head":                     "GET /v1/sessions HTTP/1.1\r\nHost: " + b.addr + "\r\nX: ",
		"half a body":                     post("/v1/sessions", "admin", "Content-Length: 1000") + `{"dir":`,
		"half a chunk":                    post("/v1/sessions", "admin", "Transfer-Encoding: chunked") + "ff\r\n{",
		"half a body, without a token":    post("/v1/sessions", "-", "Content-Length: 1000") + `{"dir":`,
		"half a body to nowhere":          post("/nowhere", "admin", "Content-Length: 1000") + `{"dir":`,
		"half a body where none is taken": post(nobody+"/resume", "admin", "Content-Length: 1000") + `{`,
		"half a body for another host":    strings.Replace(post("/v1/sessions", "admin", "Content-Length: 1000"), b.addr, "evil.test", 1) + "{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := b.dial()
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("it was not cut off: %v", err)
			}
		})
	}
}

// A head that does not end is refused.
func TestLargeHead(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	c := b.dial()
	go func() { // it is cut off before it has sent all
		_, _ = fmt.Fprintf(c, "GET /v1/sessions HTTP/1.1\r\nHost: %s\r\nX: %s\r\n\r\n", b.addr, strings.Repeat("x", 1<<20))
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("it answers %s", resp.Status)
	}
}

// pipes is a listener whose connections hold nothing: who writes waits for the
// reader.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

// overPipes serves a service within a bubble of synctest, and returns a client's
// side of a connection that has sent a request.
func overPipes(t *testing.T, svc pawl.Service, request string) net.Conn {
	t.Helper()
	s := httpapi.New(httpapi.Config{Service: func(api.Principal) pawl.Service { return svc }, Auth: byToken})
	p := &pipes{conns: make(chan net.Conn)}
	done := make(chan error, 1)
	go func() { done <- s.Serve(p) }()
	ours, theirs := net.Pipe()
	p.conns <- theirs
	t.Cleanup(func() {
		_ = ours.Close()
		if err := errors.Join(s.Close(context.WithoutCancel(t.Context())), <-done); err != nil {
			t.Error(err)
		}
	})
	if _, err := io.WriteString(ours, request+" HTTP/1.1\r\nHost: pawl\r\nAuthorization: Bearer admin\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ours
}

// slowly reads a little, and then waits.
type slowly struct{ net.Conn }

func (c slowly) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), 32<<10)])
	time.Sleep(3 * time.Second)
	return n, err
}

// A client that reads slowly gets it all, however long it takes: the bound is for
// a piece.
func TestSlowReadersGetItAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := overPipes(t, &endless{size: 1 << 20, count: 2}, "GET "+nobody+"/log")
		resp, err := http.ReadResponse(bufio.NewReaderSize(slowly{c}, 32<<10), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 2<<20 {
			t.Errorf("%d bytes: %v", n, err)
		}
		if took := time.Since(start); took < time.Minute {
			t.Errorf("it was not slow: %s", took)
		}
	})
}

// One that reads nothing is cut off, whether the answer is long or has nothing but
// a head.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"GET " + nobody + "/log", "GET " + nobody + "/events", "POST " + nobody + "/cancel"} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := overPipes(t, &endless{size: 1 << 20, count: 2}, request)
				if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(c, strings.Repeat("x", 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("it was not cut off: %v", err)
				}
			})
		})
	}
}
