package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/server"
)

// quick cuts off soon who does not go on. One who reads has a second, since tests
// may run on a busy machine.
func quick(c *server.Config) {
	c.HeaderTime, c.BodyTime, c.Patience = 50*time.Millisecond, 50*time.Millisecond, time.Second
}

// dial connects by hand. What takes longer than patience fails.
func (b *box) dial() net.Conn {
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
func TestSlowRequests(t *testing.T) {
	b := newBox(t, nil, quick)
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
func TestLargeHead(t *testing.T) {
	b := newBox(t, nil)
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

// idle is a service that has nothing to cancel.
type idle struct{ pawl.Service }

func (idle) Cancel(context.Context, pawl.SessionID) error { return nil }

// One who sends request after request and reads no answer is cut off too, if the
// answers have nothing but a head.
func TestSlowReadersOfHeads(t *testing.T) {
	b := newBox(t, idle{}, quick)
	one := fmt.Sprintf("POST %s/cancel HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer admin\r\n\r\n", nobody, b.addr)
	c := b.dial()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(1 << 10) // so that it is full soon
	}
	var err error
	for err == nil {
		_, err = io.WriteString(c, one)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it was not cut off: %v", err)
	}
}

// A client that does not read a long answer is cut off, and one that reads it
// slowly is not: the bound is for a piece of it.
func TestSlowReaders(t *testing.T) {
	b := newBox(t, &endless{size: 1 << 20, count: 64}, quick)
	get := "GET " + nobody + "/log HTTP/1.1\r\nHost: " + b.addr + "\r\nAuthorization: Bearer admin\r\n\r\n"
	c := b.dial()
	if _, err := io.WriteString(c, get); err != nil {
		t.Fatal(err)
	}
	b.ends(t) // the handler has ended, and nothing was read
	n, _ := io.Copy(io.Discard, c)
	if n >= 64<<20 {
		t.Errorf("all of it came: %d bytes", n)
	}
	resp, err := b.http.Do(b.request(request{method: "GET", path: nobody + "/log"}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 64<<20 {
		t.Errorf("one who reads got %d bytes: %v", n, err)
	}
}
