package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	maxHeader     = 64 << 10 // bytes of an answer's header
	handshakeWait = 10 * time.Second
)

// ClientConfig configures a client of a guard. The zero value follows no redirects.
type ClientConfig struct {
	// Redirects is how many redirects are followed.
	Redirects int
	// Follow reports whether to follow a redirect; if not, its response is returned. Nil
	// means to follow all.
	Follow func(from, to *url.URL) bool
}

// Client returns a client whose connections, including those of redirects, all go
// through the guard. It keeps no cookies and no connections, and ignores the proxy of
// the environment, which would resolve names itself and reach what the guard refuses.
// A redirect from https to http is an error.
func (g *Guard) Client(c ClientConfig) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &transport{&http.Transport{
			DialContext:            ofRequest(g.DialContext),
			DialTLSContext:         ofRequest(g.dialTLS),
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxHeader,
			Protocols:              protocols,
		}},
		CheckRedirect: c.redirect,
	}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dialTLS connects and verifies the certificate of the host.
func (g *Guard) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := g.TLS.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.ServerName, _, _ = net.SplitHostPort(address) // DialContext has read it
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says it all
		return nil, err
	}
	return secure, nil
}

// requestKey is the context key of a request's own context.
type requestKey struct{}

// ofRequest cancels dialing with the request: the transport would continue for other
// requests, but connections are not shared here.
func ofRequest(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if request, ok := ctx.Value(requestKey{}).(context.Context); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(request, cancel)()
		}
		return dial(ctx, network, address)
	}
}

func (c ClientConfig) redirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	to, err := canonical(req.URL)
	switch {
	case err != nil:
		return fmt.Errorf("denied: invalid redirect target: %w", err)
	case c.Redirects == 0 || c.Follow != nil && !c.Follow(from, to):
		return http.ErrUseLastResponse
	case from.Scheme == "https" && to.Scheme != "https":
		return fmt.Errorf("denied: redirect from https to http at %s, which is not secure", to.Host)
	case len(via) > c.Redirects:
		return fmt.Errorf("denied: more than %d redirects", c.Redirects)
	}
	req.URL, req.Host = to, ""
	req.Header.Del("Referer") // do not disclose the previous URL
	return nil
}

// transport ensures that a request goes to the host of its URL.
type transport struct{ next http.RoundTripper }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := canonical(req.URL)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing of it was sent
		}
		return nil, fmt.Errorf("denied: %w", err)
	}
	clean := req.Clone(context.WithValue(req.Context(), requestKey{}, req.Context()))
	clean.URL, clean.Host = u, ""
	return t.next.RoundTrip(clean)
}
