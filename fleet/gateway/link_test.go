package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// TestDisconnectEndsCall checks that the call of the model ends when the reader stops, in whatever way.
func TestDisconnectEndsCall(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, s *served, m stuck){
		"canceled": func(t *testing.T, s *served, m stuck) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-m.hangs; cancel() }()
			if _, err := read(ctx, s.model("m"), model.Request{}); !errors.Is(err, context.Canceled) || errors.Is(err, pawl.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		},
		"it has enough": func(t *testing.T, s *served, m stuck) {
			for range s.model("m").Stream(t.Context(), model.Request{}) {
				<-m.hangs
				break
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newStuck(nil)
			leave(t, serve(t, Config{Open: only(m)}), m)
			if err := receive(t, m.ended, "the end of the model's call"); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// wall is a proxy that can be cut. It then drops all bytes, and neither side notices.
type wall struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// between returns an address that forwards to another.
func (w *wall) between(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			w.mu.Lock()
			w.conns = append(w.conns, in, out)
			w.mu.Unlock()
			running.Go(func() { w.carry(in, out) })
			running.Go(func() { w.carry(out, in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		running.Wait()
	})
	return l.Addr().String()
}

// carry copies bytes until the proxy is cut, and then drops them.
func (w *wall) carry(from io.Reader, to io.Writer) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		cut := w.cut
		w.mu.Unlock()
		if err != nil {
			return
		}
		if !cut {
			_, _ = to.Write(b[:n])
		}
	}
}

// TestBothNoticeALostPeer checks that both sides notice if the network is cut silently while a model is working.
func TestBothNoticeALostPeer(t *testing.T) {
	t.Parallel()
	const soon = 200 * time.Millisecond
	m := newStuck(nil)
	gateway := server(Handler(Config{Open: only(m), Token: token}), soon, soon)
	gateway.ErrorLog = log.New(io.Discard, "", 0) // it reports the cut
	behind := listen(t, "127.0.0.1:0", gateway)
	w := &wall{}
	c := connect(t, w.between(t, behind), transport(soon, soon))
	there, _ := c.Open("m")
	ended := make(chan error, 1)
	go func() {
		_, err := read(t.Context(), there, model.Request{})
		ended <- err
	}()
	receive(t, m.hangs, "the first word")
	w.mu.Lock()
	w.cut = true
	w.mu.Unlock()
	if err := receive(t, ended, "the client's end"); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := receive(t, m.ended, "the gateway's end"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPingsAreOn checks that both sides notice a lost peer within ten seconds.
func TestPingsAreOn(t *testing.T) {
	t.Parallel()
	for _, c := range []*http.HTTP2Config{Server(nil).HTTP2, Transport().HTTP2} {
		if within := c.SendPingTimeout + c.PingTimeout; c.SendPingTimeout <= 0 || c.PingTimeout <= 0 || within > 10*time.Second {
			t.Errorf("a peer that is closed is noticed after %s", within)
		}
	}
}

// TestTLS checks that the gateway works over TLS, and only with a trusted certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(nil)
	s.Config, s.EnableHTTP2 = Server(Handler(Config{Open: only(says1), Token: token})), true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports failed handshakes
	s.StartTLS()
	t.Cleanup(s.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	for _, roots := range []*x509.CertPool{trusted, x509.NewCertPool()} {
		via := Transport()
		via.TLSClientConfig = &tls.Config{RootCAs: roots}
		t.Cleanup(via.CloseIdleConnections)
		m, _ := (&Client{URL: s.URL, Token: token, HTTP: &http.Client{Transport: via}}).Open("m")
		chunks, err := read(t.Context(), m, model.Request{})
		if roots == trusted && (err != nil || len(chunks) != 2) || roots != trusted && !errors.Is(err, pawl.ErrUnavailable) {
			t.Errorf("trusted %v: got %v, %v", roots == trusted, chunks, err)
		}
	}
}

// TestNoGateway checks that an error is not attributed to the model if something else answers instead of a gateway.
func TestNoGateway(t *testing.T) {
	t.Parallel()
	answers := func(status int, body string) string {
		return "http://" + listen(t, "127.0.0.1:0", Server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})))
	}
	old := httptest.NewServer(http.NotFoundHandler()) // speaks HTTP/1.1
	t.Cleanup(old.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, url := range map[string]string{
		"nobody":          "http://" + closed.Addr().String(),
		"no address":      "://",
		"an old server":   old.URL,
		"500":             answers(500, "oops"),
		"502":             answers(502, "bad gateway"),
		"404":             answers(404, "not found"),
		"nothing at all":  answers(200, ""),
		"a page":          answers(200, "<html>"),
		"no end":          answers(200, `{"kind":"text","text":"a"}`+"\n"),
		"half of a line":  answers(200, `{"kind":"text","te`),
		"a strange piece": answers(200, `{"kind":"song"}`+"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			via := Transport()
			t.Cleanup(via.CloseIdleConnections)
			c := &Client{URL: url, Token: token, HTTP: &http.Client{Transport: via}}
			m, err := c.Open("m")
			if err != nil {
				t.Fatal(err)
			}
			_, err = read(t.Context(), m, model.Request{})
			var provider *model.ProviderError
			if !errors.Is(err, pawl.ErrUnavailable) || errors.As(err, &provider) {
				t.Errorf("got %v", err)
			}
			if _, err := c.Small("m"); name != "a strange piece" && name != "no end" && !errors.Is(err, pawl.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}
