// Package client is pawl over HTTP: a [pawl.Service] that is another process,
// started by 'pawl serve'.
//
// What it returns is what the service there returns. An event stream that breaks
// off goes on by itself where it was; orders are not repeated, since one that was
// not answered may have been accepted. To be sure, look at the session's log.
//
// Errors have the class that they have there: compare with [errors.Is] and
// [pawl.ErrBusy] and its like, or ask [pawl.CodeOf]. A server that cannot be
// reached is a [pawl.ErrUnavailable].
//
// The routes behind it are described by docs/schema/openapi.json, for clients in
// other languages; docs/guide/api.md shows one with curl and one in TypeScript.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// Config says where the server is, and who asks.
type Config struct {
	// URL is http://host:port, https://host:port or unix:///path/of/the/socket.
	URL   string
	Token string       // "" sends none, which is enough for a socket of the same user
	HTTP  *http.Client // how to get there; nil means as the URL says, without a proxy for the socket
}

// Client asks a server. It is safe for use by many goroutines.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

var _ pawl.Service = (*Client)(nil)

// New returns a client. It does not connect: that is done with the first request.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("connect to %q: %w: %w", c.URL, err, pawl.ErrInvalid)
	}
	cl := &Client{base: base, token: c.Token, http: c.HTTP}
	switch {
	case base.Scheme == "unix" && base.Path != "":
		path := base.Path
		cl.base = &url.URL{Scheme: "http", Host: "pawl"}
		if cl.http == nil {
			cl.http = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			}}}
		}
	case (base.Scheme == "http" || base.Scheme == "https") && base.Host != "" && base.User == nil:
		if cl.http == nil {
			cl.http = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()} //nolint:forcetypeassert // it is one
		}
	default:
		return nil, fmt.Errorf("connect to %q: write http://host:port, https://host:port or unix:///path: %w", c.URL, pawl.ErrInvalid)
	}
	noRedirect := *cl.http // the token is for this server alone
	noRedirect.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cl.http = &noRedirect
	return cl, nil
}

// noSession begins the path of a session whose id can be none.
const noSession = "!"

// path fills in a path of the interface.
func path(id pawl.SessionID, rest string, seq ...pawl.Seq) string {
	if !id.Valid() {
		return noSession
	}
	p := "/v1/sessions/" + string(id) + rest
	for _, n := range seq {
		p = strings.Replace(p, "{seq}", strconv.FormatInt(int64(n), 10), 1)
	}
	return p
}

// request makes one.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, form api.Form, body io.Reader) (*http.Request, error) {
	if strings.HasPrefix(path, noSession) {
		return nil, fmt.Errorf("there is no such session: %w", pawl.ErrNotFound)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), body)
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery = query.Encode()
	if form != api.FormNone {
		r.Header.Set("Content-Type", string(form))
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// do sends a request and returns the answer if it is a good one.
func (c *Client) do(r *http.Request, id pawl.SessionID) (*http.Response, error) {
	resp, err := c.http.Do(r)
	if err != nil {
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("ask the server at %s: %w: is 'pawl serve' running? %w", c.base.Host, err, pawl.ErrUnavailable)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, faultOf(resp, id)
}

// maxFault bounds what is read of an error.
const maxFault = 1 << 20

// faultOf reads why a server said no.
func faultOf(resp *http.Response, id pawl.SessionID) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	var fault api.Fault
	if err != nil || json.Unmarshal(text, &fault) != nil || fault.Error.Code == "" {
		return fmt.Errorf("the server answered %s, and is no pawl that this one understands: %w", resp.Status, pawl.ErrUnavailable)
	}
	return fault.Err(id)
}

// ask sends v, if it is not nil, and reads the answer into out, if that is not nil.
func (c *Client) ask(ctx context.Context, id pawl.SessionID, method, path string, query url.Values, v, out any) error {
	var body io.Reader
	form := api.FormNone
	if v != nil {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		body, form = bytes.NewReader(text), api.FormJSON
	}
	r, err := c.request(ctx, method, path, query, form, body)
	if err != nil {
		return err
	}
	resp, err := c.do(r, id)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the server's answer: %w: %w", err, pawl.ErrUnavailable)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil { // not strictly: a newer server may say more
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

// accepted is ask for an order.
func (c *Client) accepted(ctx context.Context, id pawl.SessionID, path string, v any) (pawl.Seq, error) {
	var a api.Accepted
	err := c.ask(ctx, id, http.MethodPost, path, nil, v, &a)
	return a.Seq, err
}

// Ready reports whether the server takes work.
func (c *Client) Ready(ctx context.Context) error {
	r, err := c.request(ctx, http.MethodGet, "/readyz", nil, api.FormNone, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", err, pawl.ErrUnavailable)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: %w", c.base.Host, pawl.ErrUnavailable)
	}
	return nil
}

// Close lets go of connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// pause waits between two attempts, longer each time.
func pause(ctx context.Context, attempt int) error {
	const first, longest = 100 * time.Millisecond, 5 * time.Second
	wait := min(first<<min(attempt, 10), longest)
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errCut = errors.New("the stream broke off")
