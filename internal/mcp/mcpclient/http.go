package mcpclient

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/weak"
)

// address is where a server on the network is.
type address struct {
	url    *url.URL
	origin string // scheme, host and port
	port   uint16
}

func newAddress(u *url.URL) *address {
	a := &address{url: u, origin: originOf(u), port: 443}
	if u.Scheme == "http" {
		a.port = 80
	}
	if p, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		a.port = uint16(p)
	}
	return a
}

// originOf is the scheme, host and port of an address in one spelling.
func originOf(u *url.URL) string {
	clean, err := egress.ParseURL(u.String())
	if err != nil {
		return ""
	}
	return clean.Scheme + "://" + clean.Host
}

// guard lets connections through to the hosts that an entry names. Its port is
// as good as any: the user has named it. This machine and its network are
// closed unless the entry opens them.
func (c Config) guard(s Server, a *address) *egress.Guard {
	g := egress.Guard{}
	if c.Guard != nil {
		g = *c.Guard
	}
	g.Ports = []uint16{a.port}
	g.Allow = func(host string, _ netip.Addr) bool { return s.Local && host == a.url.Hostname() }
	return &g
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// client returns what a server is talked to with. A request goes to the origin
// of the entry's address, with the entry's headers, or nowhere: a redirect, and
// an address that the server names, are answers of its own. When cut ends, so
// does all that is under way.
func (c Config) client(cut context.Context, s Server, a *address, m *meter) *http.Client {
	client := c.guard(s, a).Client(egress.ClientConfig{Redirects: maxRedirects})
	next := client.Transport
	client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		if to := originOf(req.URL); to != a.origin && !weak.On("mcp.redirect") {
			if req.Body != nil {
				_ = req.Body.Close() // nothing of it was sent
			}
			return nil, fmt.Errorf("refused: it leads from %s to another origin, %.100q: if that is right, put the address into the configuration", a.origin, to)
		}
		ctx, cancel := context.WithCancel(req.Context())
		stop := context.AfterFunc(cut, cancel)
		free := func() { stop(); cancel() }
		req = req.Clone(ctx)
		for name, value := range s.Headers {
			req.Header.Set(name, value)
		}
		m.sent()
		resp, err := next.RoundTrip(req)
		if err != nil {
			free()
			return nil, err
		}
		left := int64(messageBytes)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			left = -1
		}
		resp.Body = &meteredBody{ReadCloser: resp.Body, meter: m, left: left, free: free}
		return resp, nil
	})
	return client
}
