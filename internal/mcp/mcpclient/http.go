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
)

// address is the URL of a server on the network.
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

// originOf returns the normalized scheme, host and port of a URL.
func originOf(u *url.URL) string {
	clean, err := egress.ParseURL(u.String())
	if err != nil {
		return ""
	}
	return clean.Scheme + "://" + clean.Host
}

// guard allows connections to the hosts of an entry, on any port, since the
// user has configured it. The local machine and network are blocked unless the
// entry allows them.
func (c Config) guard(s Server, a *address) *egress.Guard {
	g := egress.Guard{}
	if c.Guard != nil {
		g = *c.Guard
	}
	g.Ports = []uint16{a.port}
	g.Allow = func(host string, _ netip.Addr) bool { return s.Local && host == a.url.Hostname() }
	return &g
}

// transportFunc is a function as an http.RoundTripper.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// client returns the HTTP client for a server. It only sends requests to the
// origin of the entry's URL, with the entry's headers: it does not follow
// redirects or other URLs that the server names. All requests end when cut
// does.
func (c Config) client(cut context.Context, s Server, a *address, m *meter) *http.Client {
	client := c.guard(s, a).Client(egress.ClientConfig{Redirects: maxRedirects})
	next := client.Transport
	client.Transport = transportFunc(func(req *http.Request) (*http.Response, error) {
		if to := originOf(req.URL); to != a.origin {
			if req.Body != nil {
				_ = req.Body.Close() // nothing was sent
			}
			return nil, fmt.Errorf("redirect from %s to another origin (%.100q) denied: if it is correct, configure that address", a.origin, to)
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
