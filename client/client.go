// Package client implements [pawl.Service] over HTTP. It talks to a server that 'pawl
// serve' started. [Client.Run] sends a prompt and waits for the end of its turn;
// [Client.FollowItems] and [Client.Follow] keep a transcript and a list of sessions
// up to date, for front ends.
//
// An event stream that breaks off is resumed where it stopped. Requests that change
// something are not repeated, since one that got no answer may have been accepted; to
// find out, read the session's log.
//
// Errors have the same class as on the server: compare them with [errors.Is] and
// [pawl.ErrBusy] and its like, or call [pawl.CodeOf]. A server that cannot be reached
// is a [pawl.ErrUnavailable].
//
// The routes are described in docs/schema/openapi.json, for clients in other
// languages; docs/reference/api.md shows one with curl and one in TypeScript.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Config configures a [Client].
type Config struct {
	// URL is http://host:port, https://host:port or unix:///path/to/socket.
	URL string
	// Others are the URLs of further servers on the same store, used when one does
	// not answer. They get the same token.
	Others []string
	Token  string       // "" sends none, which is enough for a socket of the same user
	HTTP   *http.Client // nil means a client for the URL, which uses no proxy for a socket

	// Silence is how long a stream may receive nothing before the client reconnects;
	// 0 means a minute. The server sends a sign of life four times as often.
	Silence time.Duration
}

// Client is a client of one or more servers. It is safe for concurrent use.
type Client struct {
	places  []place
	at      atomic.Int64 // index of the place that answered last
	token   string
	silence time.Duration
}

// place is a server with the HTTP client to reach it.
type place struct {
	base *url.URL
	http *http.Client
}

var _ pawl.Service = (*Client)(nil)

const defaultSilence = time.Minute

// New returns a client. It connects with the first request.
func New(c Config) (*Client, error) {
	cl := &Client{token: c.Token, silence: cmp.Or(c.Silence, defaultSilence)}
	for _, text := range append([]string{c.URL}, c.Others...) {
		p, err := newPlace(text, c.HTTP)
		if err != nil {
			return nil, err
		}
		cl.places = append(cl.places, p)
	}
	return cl, nil
}

func newPlace(text string, given *http.Client) (place, error) {
	base, err := url.Parse(text)
	if err != nil {
		return place{}, fault.New(pawl.ErrInvalid, "connect to %q: %w", text, err)
	}
	p := place{base: base, http: &http.Client{}}
	switch {
	case base.Scheme == "unix" && base.Path != "":
		path := base.Path
		p.base = &url.URL{Scheme: "http", Host: "pawl"}
		p.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}
	case (base.Scheme == "http" || base.Scheme == "https") && base.Host != "" && base.User == nil:
		p.http.Transport = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // DefaultTransport is one
	default:
		return place{}, fault.New(pawl.ErrInvalid, "connect to %q: unsupported address: use http://host:port, https://host:port or unix:///path", text)
	}
	if given != nil {
		*p.http = *given
	}
	// Do not send the token to another server.
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p, nil
}

// noSession is the path of an invalid session ID.
const noSession = "!"

// path returns the path of a session's route, or noSession. Each seq replaces a
// {seq}.
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

// request returns a request without a host, which place.send adds.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, form api.Form, body io.Reader) (*http.Request, error) {
	if strings.HasPrefix(path, noSession) {
		return nil, fault.New(pawl.ErrNotFound, "session not found").Hint("Run `pawl session list` to see all sessions.")
	}
	r, err := http.NewRequestWithContext(ctx, method, path, body)
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

// do sends a request and returns the response if its status is below 300. If a server
// cannot be reached or is unavailable, it tries the next one.
func (c *Client) do(r *http.Request, id pawl.SessionID) (*http.Response, error) {
	first := c.at.Load()
	for n := range int64(len(c.places)) {
		at := (first + n) % int64(len(c.places))
		resp, untouched, err := c.places[at].send(r, id)
		if err == nil {
			c.at.Store(at)
			return resp, nil
		}
		if errors.Is(err, pawl.ErrUnavailable) {
			c.at.CompareAndSwap(at, (at+1)%int64(len(c.places)))
		}
		if again, ok := once(r); untouched && ok && n+1 < int64(len(c.places)) {
			r = again
			continue
		}
		return nil, err
	}
	return nil, pawl.ErrUnavailable // not reached: there is at least one place
}

// once returns a copy of a request that can be sent again, unless its body cannot be
// read again.
func once(r *http.Request) (*http.Request, bool) {
	again := r.Clone(r.Context())
	if r.Body == nil {
		return again, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	again.Body = body
	return again, err == nil
}

// send sends a request to this server. It reports whether the server has certainly
// done nothing, so that another one may be tried.
func (p place) send(r *http.Request, id pawl.SessionID) (resp *http.Response, untouched bool, err error) {
	there := r.Clone(r.Context())
	there.URL.Scheme, there.URL.Host, there.Host = p.base.Scheme, p.base.Host, ""
	there.URL.Path = strings.TrimSuffix(p.base.Path, "/") + r.URL.Path
	resp, err = p.http.Do(there)
	if err != nil {
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, false, cause
		}
		var op *net.OpError
		untouched = errors.As(err, &op) && op.Op == "dial"
		return nil, untouched, fault.New(pawl.ErrUnavailable, "connect to the server at %s: %w", p.base.Host, err).Hint("Check the address, and that `pawl serve` is running there.")
	}
	if resp.StatusCode < 300 {
		return resp, false, nil
	}
	defer resp.Body.Close()
	return nil, resp.StatusCode == http.StatusServiceUnavailable, faultOf(resp, id)
}

// maxFault limits the body of an error response, in bytes.
const maxFault = 1 << 20

// faultOf returns the error that the server reported.
func faultOf(resp *http.Response, id pawl.SessionID) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	var fault api.Fault
	if err != nil || json.Unmarshal(text, &fault) != nil || fault.Error.Code == "" {
		return notPawl(resp)
	}
	return fault.Err(id)
}

// ask sends v as JSON and decodes the response into out. Either may be nil.
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
	if out == nil {
		return isPawl(resp, api.FormNone)
	}
	return read(resp, out)
}

// read decodes a successful response.
func read(resp *http.Response, out any) error {
	if err := isPawl(resp, api.FormJSON); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fault.New(pawl.ErrUnavailable, "read the server's response: %w", err)
	}
	if err := json.Unmarshal(text, out); err != nil { // not strictly: a newer server may send more
		return fmt.Errorf("read the server's response: %w", err)
	}
	return nil
}

// maxAnswer limits the body of a response, in bytes.
const maxAnswer = 256 << 20

// isPawl returns an error for a response that does not come from Pawl, such as a
// proxy's page, which would otherwise look like success.
func isPawl(resp *http.Response, form api.Form) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == string(form) && (form != api.FormNone || resp.StatusCode == http.StatusNoContent) {
		return nil
	}
	return notPawl(resp)
}

func notPawl(resp *http.Response) error {
	return fault.New(pawl.ErrUnavailable, "the server answered %s with content type %q: it is not a compatible Pawl server", resp.Status, resp.Header.Get("Content-Type")).Hint("Check the address and the server's version.")
}

// accepted sends a request that the server records as an event, and returns the
// event's Seq.
func (c *Client) accepted(ctx context.Context, id pawl.SessionID, path string, v any) (pawl.Seq, error) {
	var a api.Accepted
	err := c.ask(ctx, id, http.MethodPost, path, nil, v, &a)
	return a.Seq, err
}

// Ready returns an error unless the server accepts work.
func (c *Client) Ready(ctx context.Context) error {
	r, err := c.request(ctx, http.MethodGet, "/readyz", nil, api.FormNone, nil)
	if err != nil {
		return err
	}
	resp, err := c.do(r, "")
	if err != nil {
		return fmt.Errorf("the server is not ready: %w", err)
	}
	return resp.Body.Close()
}

// Close closes idle connections.
func (c *Client) Close() {
	for _, p := range c.places {
		p.http.CloseIdleConnections()
	}
}

// pause waits before the next attempt, with exponential backoff.
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

var errCut = errors.New("the event stream was interrupted")
