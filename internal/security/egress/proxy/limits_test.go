package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// one resolves every name to one public address.
type one struct{}

func (one) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(okAddr)}, nil
}

// piped is a proxy in a bubble of time: its client and the server behind it are
// ends of pipes.
type piped struct {
	client, server net.Conn
	reported       chan Decision
	ended          chan struct{}
}

func newPiped(t *testing.T, ctx context.Context) *piped { //nolint:revive // a test comes first
	t.Helper()
	c := &piped{reported: make(chan Decision, 1), ended: make(chan struct{})}
	serverEnd, clientEnd := net.Pipe()
	c.server = serverEnd
	guard := &egress.Guard{Resolver: one{}, Dial: func(context.Context, string, string) (net.Conn, error) { return clientEnd, nil }}
	p, err := newProxy(Config{Guard: guard, Hosts: []string{"ok.test", "ok.test:80"}, Decided: func(d Decision) { c.reported <- d }})
	if err != nil {
		t.Fatal(err)
	}
	var inner net.Conn
	c.client, inner = net.Pipe()
	go func() {
		defer close(c.ended)
		p.handle(ctx, inner)
	}()
	t.Cleanup(func() { _, _, _ = c.client.Close(), c.server.Close(), clientEnd.Close() })
	return c
}

// tunnel brings a tunnel about.
func (c *piped) tunnel(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.client, connect("ok.test:443")); err != nil {
		t.Fatal(err)
	}
	if got := read(bufio.NewReader(c.client)); got != "200 " {
		t.Fatal(got)
	}
	hello := make(chan error, 1)
	go func() {
		_, err := readHello(bufio.NewReader(c.server))
		hello <- err
	}()
	go func() {
		_ = tls.Client(c.client, &tls.Config{ServerName: "ok.test", MinVersion: tls.VersionTLS12}).Handshake()
	}()
	if err := <-hello; err != nil {
		t.Fatal(err)
	}
	if d := <-c.reported; !d.Allowed {
		t.Fatal(d)
	}
}

func since(start time.Time) time.Duration { return time.Since(start).Round(time.Second) }

func TestSilentClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := newPiped(t, t.Context()), time.Now()
		if got := read(bufio.NewReader(c.client)); got != "408 pawl: the request timed out\n" {
			t.Error(got)
		}
		if <-c.ended; since(start) != headWait {
			t.Error(since(start))
		}
	})
}

// A client that sends a byte now and then does not live longer for it.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := newPiped(t, t.Context()), time.Now()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			for err := error(nil); err == nil; _, err = c.client.Write([]byte("G")) {
				time.Sleep(time.Second)
			}
		}()
		if got := read(bufio.NewReader(c.client)); got != "408 pawl: the request timed out\n" {
			t.Error(got)
		}
		if <-c.ended; since(start) != headWait {
			t.Error(since(start))
		}
		<-closed
	})
}

func TestNoHello(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := newPiped(t, t.Context()), time.Now()
		go func() { _, _ = io.WriteString(c.client, connect("ok.test:443")+"\x16\x03") }()
		if got := read(bufio.NewReader(c.client)); got != "200 " {
			t.Fatal(got)
		}
		if d := <-c.reported; d.Allowed || !strings.Contains(d.Why, "not TLS") {
			t.Error(d)
		}
		if <-c.ended; since(start) != helloWait {
			t.Error(since(start))
		}
	})
}

// A tunnel ends when nothing has moved for long, in either direction.
func TestIdleTunnel(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *piped) net.Conn{
		"client": func(c *piped) net.Conn { return c.client },
		"server": func(c *piped) net.Conn { return c.server },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newPiped(t, t.Context())
				c.tunnel(t)
				go func() { _, _ = io.Copy(io.Discard, c.client) }()
				go func() { _, _ = io.Copy(io.Discard, c.server) }()
				start := time.Now()
				for range 5 {
					time.Sleep(idleWait - time.Second)
					if _, err := end(c).Write([]byte("x")); err != nil {
						t.Fatal(err)
					}
				}
				if <-c.ended; since(start) != 6*idleWait-5*time.Second {
					t.Error(since(start))
				}
			})
		})
	}
}

// A server that does not answer a plain request is left.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := newPiped(t, t.Context()), time.Now()
		go func() { _, _ = io.Copy(io.Discard, c.server) }()
		if _, err := io.WriteString(c.client, get("http://ok.test/")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(c.client)
		if d := <-c.reported; !strings.Contains(d.Why, "did not answer") {
			t.Error(d)
		}
		if <-c.ended; since(start) != idleWait {
			t.Error(since(start))
		}
	})
}

// TestClose: Close ends what is open, at once.
func TestClose(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "ok.test")
	silent := w.dial()
	begun := w.dial()
	if _, err := io.WriteString(begun, "CONNECT ok"); err != nil {
		t.Fatal(err)
	}
	tunnel := w.dial()
	if _, err := io.WriteString(tunnel, connect("ok.test:443")); err != nil {
		t.Fatal(err)
	}
	if got := read(bufio.NewReader(tunnel)); got != "200 " {
		t.Fatal(got)
	}
	config := w.net.Guard().TLS
	config.ServerName = "ok.test"
	if err := tls.Client(tunnel, config).Handshake(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	w.close()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	for _, conn := range []net.Conn{silent, begun, tunnel} {
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("it is still open")
		}
	}
	if _, err := net.Dial("unix", w.proxy.Socket()); err == nil {
		t.Error("it still listens")
	}
}

// TestManyConnections: those beyond the bound wait for their turn.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "ok.test:80")
	var open []net.Conn
	for range maxConns {
		conn := w.dial()
		if _, err := io.WriteString(conn, "GET "); err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	answered := make(chan string)
	last := w.dial()
	go func() {
		_, _ = io.WriteString(last, get("http://ok.test/"))
		answered <- read(bufio.NewReader(last))
	}()
	select {
	case got := <-answered:
		t.Fatalf("it was answered beside %d others: %s", maxConns, got)
	case <-time.After(100 * time.Millisecond):
	}
	_ = open[7].Close()
	if got := <-answered; got != "200 hello from ok.test" {
		t.Error(got)
	}
}
