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

// ClientConfig is how a client of a guard behaves. Its zero value follows no
// redirect.
type ClientConfig struct {
	// Redirects is how many are followed.
	Redirects int
	// Follow says which ones are; the answer that holds another is returned as
	// it is. Nil means all.
	Follow func(from, to *url.URL) bool
}

// Client returns a client whose every connection, also of a redirect, goes
// through the guard. It keeps no cookie and no connection, and takes no proxy
// from the environment: that would resolve names by itself and reach what the
// guard refuses. A redirect from https to http is an error.
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

// dialTLS connects and has the server prove that it is the host.
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

// requestKey is where a request's own context is found.
type requestKey struct{}

// ofRequest ends dialing with the request: the transport goes on in case
// another request can use the connection, and here none can.
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
		return fmt.Errorf("refused: the address that it redirects to: %w", err)
	case c.Redirects == 0 || c.Follow != nil && !c.Follow(from, to):
		return http.ErrUseLastResponse
	case from.Scheme == "https" && to.Scheme != "https":
		return fmt.Errorf("refused: it redirects from https to http at %s, which anybody on the way could change", to.Host)
	case len(via) > c.Redirects:
		return fmt.Errorf("refused: more than %d redirects", c.Redirects)
	}
	req.URL, req.Host = to, ""
	req.Header.Del("Referer") // where one came from is nobody's business
	return nil
}

// transport sees to it that a request goes where its URL says.
type transport struct{ next http.RoundTripper }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := canonical(req.URL)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing of it was sent
		}
		return nil, fmt.Errorf("refused: %w", err)
	}
	clean := req.Clone(context.WithValue(req.Context(), requestKey{}, req.Context()))
	clean.URL, clean.Host = u, ""
	return t.next.RoundTrip(clean)
}
