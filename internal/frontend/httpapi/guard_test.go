package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// Who is not called by its name, or comes from a page, is refused before anything
// is looked at: a request that is refused here and one that is not differ in
// nothing else.
func TestGuard(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Hosts = []string{"127.0.0.1", "pawl.example.com", "[::1]", "other.example.com:8443"}
		c.Origins = []string{"https://pawl.example.com"}
	})
	for _, c := range []struct {
		name   string
		header map[string]string
		status int
	}{
		{"as it is", nil, 200},
		{"another name that is its own", map[string]string{"Host": "PAWL.example.com"}, 200},
		{"with a port", map[string]string{"Host": "pawl.example.com:1"}, 200},
		{"IPv6", map[string]string{"Host": "[::1]:4747"}, 200},
		{"with its port", map[string]string{"Host": "other.example.com:8443"}, 200},
		{"with another port", map[string]string{"Host": "other.example.com:8444"}, 403},
		{"rebound", map[string]string{"Host": "evil.test"}, 403},
		{"rebound, with a port", map[string]string{"Host": "evil.test:4747"}, 403},
		{"a name that ends alike", map[string]string{"Host": "evil-pawl.example.com"}, 403},
		{"a name that begins alike", map[string]string{"Host": "pawl.example.com.evil.test"}, 403},
		{"a dot at the end", map[string]string{"Host": "127.0.0.1."}, 403},
		{"another way to write the address", map[string]string{"Host": "127.1"}, 403},
		{"any address", map[string]string{"Host": "0.0.0.0"}, 403},
		{"its own page", map[string]string{"Origin": "https://pawl.example.com"}, 200},
		{"a page", map[string]string{"Origin": "https://evil.test"}, 403},
		{"a page of no origin", map[string]string{"Origin": "null"}, 403},
		{"its page without TLS", map[string]string{"Origin": "http://pawl.example.com"}, 403},
		{"its page with a port", map[string]string{"Origin": "https://pawl.example.com:444"}, 403},
		{"its page in capitals", map[string]string{"Origin": "https://PAWL.example.com"}, 403},
		{"a browser says cross-site", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a browser says same-site", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"a browser says something new", map[string]string{"Sec-Fetch-Site": "x"}, 403},
		{"typed by the user", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		{"its own page, across sites", map[string]string{"Origin": "https://pawl.example.com", "Sec-Fetch-Site": "cross-site"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{"/v1/sessions", "/healthz", "/readyz"} {
				got := b.send(request{method: "GET", path: path, header: c.header})
				if got.status != c.status {
					t.Errorf("%s: %d %s, want %d", path, got.status, got.text, c.status)
				}
			}
		})
	}
	q := b.request(request{method: "GET", path: "/v1/sessions"})
	q.Header["Origin"] = []string{"https://pawl.example.com", "https://evil.test"}
	resp, err := b.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("two origins: %s", resp.Status)
	}
}

// A server on a socket has no name, and pages are refused there too.
func TestGuardOfASocket(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) { c.Hosts = nil })
	for want, header := range map[int]map[string]string{200: {"Host": "pawl"}, 403: {"Host": "pawl", "Origin": "http://pawl"}} {
		if got := b.send(request{method: "GET", path: "/v1/sessions", header: header}); got.status != want {
			t.Errorf("%v: %d", header, got.status)
		}
	}
}

// What no browser may make a page of: every answer, good or bad, says what it is,
// and that it is nothing else.
func TestHeaders(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	s := "/v1/sessions/" + string(b.create())
	for _, q := range []request{
		{method: "GET", path: "/v1/sessions"},
		{method: "GET", path: "/v1/sessions", token: "-"},
		{method: "GET", path: "/v1/<script>alert(1)</script>"},
		{method: "GET", path: "//v1//sessions"},
		{method: "GET", path: "/v1/../v1/sessions"},
		{method: "GET", path: s + "/"},
		{method: "OPTIONS", path: "/v1/sessions"},
		{method: "TRACE", path: "/v1/sessions"},
		{method: "GET", path: s + "/log"},
		{method: "GET", path: "/healthz"},
		{method: "GET", path: "/readyz"},
		{method: "DELETE", path: s},
	} {
		q.header = map[string]string{"Accept": "text/html"}
		got := b.send(q)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if value := got.header.Get(name); value != want {
				t.Errorf("%s %s: %s is %q", q.method, q.path, name, value)
			}
		}
		if kind := got.header.Get("Content-Type"); strings.Contains(kind, "html") || got.status >= 300 && kind != "application/json" {
			t.Errorf("%s %s: %d is %q: %s", q.method, q.path, got.status, kind, got.text)
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: %s", q.method, q.path, name)
			}
		}
	}
}

// What does not exist is not found, whoever asks, and in whatever way it is written.
func TestUnknownPaths(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	s := "/v1/sessions/" + string(b.create())
	for _, q := range []request{
		{method: "GET", path: "/"}, {method: "GET", path: "/v1"}, {method: "GET", path: "/v2/sessions"},
		{method: "PUT", path: "/v1/sessions"}, {method: "PATCH", path: "/v1/usage"}, {method: "HEAD", path: s + "/nothing"},
		{method: "OPTIONS", path: "/v1/sessions"}, {method: "GET", path: "/metrics"},
		{method: "GET", path: s + "/"}, {method: "GET", path: "/" + s}, {method: "GET", path: s + "/../x"},
		{method: "GET", path: "/v1/sessions/%2e%2e"}, {method: "GET", path: "/v1/sessions/..%2f..%2fetc"},
		{method: "GET", path: "/v1/sessions/" + strings.ToLower(s[13:])}, {method: "GET", path: "/v1/sessions/x"},
		{method: "GET", path: "/v1/sessions/01JD0000000000000000000000"},
	} {
		if got := b.send(q); got.status != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", q.method, q.path, got.status, got.text)
		}
	}
}

// A request for no path at all is one like others, and goes through the guard.
func TestOptionsOfAll(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	for host, want := range map[string]int{b.addr: 404, "evil.test": 403} {
		c := b.dial()
		if _, err := fmt.Fprintf(c, "OPTIONS * HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("as %s: %s", host, resp.Status)
		}
	}
}

// generic are the paths of a route with what does not exist.
func generic(r api.Route) string {
	return strings.NewReplacer("{id}", "01JD0000000000000000000000", "{seq}", "1").Replace(r.Path)
}

// Each route refuses who may not, before it looks at what they sent; then what it
// does not take.
func TestRoutesAreGuarded(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	for _, r := range api.Routes {
		t.Run(r.Name, func(t *testing.T) {
			q := request{method: r.Method, path: generic(r), body: `{"dir":1`}
			if r.InForm == api.FormNone {
				q.body = ""
			}
			for token, want := range map[string]int{"-": 401, "wrong": 401, "limited": 429} {
				q.token = token
				got := b.send(q)
				if got.status != want || strings.Contains(got.text, "sesame") {
					t.Errorf("with the token %q: %d %s", token, got.status, got.text)
				}
				if (got.header.Get("Www-Authenticate") != "") != (want == 401) || (got.header.Get("Retry-After") != "") != (want == 429) {
					t.Errorf("with the token %q: %v", token, got.header)
				}
			}
			for _, scope := range []api.Scope{api.ScopeRead, api.ScopeRun, api.ScopeApprove, api.ScopeAdmin} {
				q.token = string(scope)
				if r.Name == "streamFeed" {
					q.method = http.MethodHead // it would not end
				}
				if got := b.send(q); (got.status == 403) == scope.Covers(r.Scope) {
					t.Errorf("with the scope %q: %d %s", scope, got.status, got.text)
				}
			}
			q.token, q.method = "", r.Method
			q.path += "?nonsense=1"
			b.refuses(400, pawl.CodeInvalid, q)
			q.path = generic(r)
			if r.InForm == api.FormNone {
				q.body = "{}"
				b.refuses(400, pawl.CodeInvalid, q)
				return
			}
			for _, header := range []map[string]string{
				{"Content-Type": ""}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
				{"Content-Type": "multipart/form-data; boundary=x"}, {"Content-Type": "application/json; charset=utf-7"},
				{"Content-Type": "text/plain; application/json"}, {"Content-Type": string(r.InForm), "Content-Encoding": "gzip"},
			} {
				q.header = header
				b.refuses(400, pawl.CodeInvalid, q)
			}
		})
	}
	list, err := b.svc.List(t.Context(), pawl.Filter{})
	if err != nil || len(list.Sessions) > 0 {
		t.Errorf("something was made: %v, %v", list, err)
	}
}

// A filter that is written wrongly does not show more than was asked for.
func TestQueries(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	s := "/v1/sessions/" + string(b.create())
	for _, path := range []string{
		"/v1/sessions?limit=0", "/v1/sessions?limit=x", "/v1/sessions?unfinished=maybe", "/v1/sessions?before=yesterday",
		"/v1/sessions?Dir=/x", "/v1/sessions?dir=/x&dir=/y", "/v1/sessions?dir=%zz", "/v1/sessions?a;b",
		"/v1/usage?since=1", s + "/events?after=x", s + "/events?after=1.5", s + "/log?after=99999999999999999999",
		s + "?after=1",
	} {
		b.refused(400, pawl.CodeInvalid, "GET", path, "")
	}
}

// failing is a service that fails as configured.
type failing struct {
	pawl.Service
	err error
}

func (f failing) Get(context.Context, pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{}, f.err
}

// Errors are reported by code and status; what is pawl's own failure is not reported at all.
func TestErrors(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		err    error
		status int
		code   pawl.Code
	}{
		{pawl.ErrInvalid, 400, pawl.CodeInvalid},
		{pawl.ErrNotFound, 404, pawl.CodeNotFound},
		{pawl.ErrConflict, 409, pawl.CodeConflict},
		{pawl.ErrDenied, 403, pawl.CodeDenied},
		{pawl.ErrUnavailable, 503, pawl.CodeUnavailable},
		{io.ErrUnexpectedEOF, 500, pawl.CodeInternal},
		{&pawl.BusyError{Session: "01JD0000000000000000000000", Holder: "pawl@host:7"}, 423, pawl.CodeBusy},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			b := newTestServer(t, failing{err: fmt.Errorf("dial db-7.internal: %w", c.err)})
			got := b.refuses(c.status, c.code, request{method: "GET", path: "/v1/sessions/01JD0000000000000000000000"})
			if strings.Contains(got.text, "db-7") == (c.status == 500) {
				t.Errorf("it says %s", got.text)
			}
			var busy *pawl.BusyError
			if errors.As(c.err, &busy) && got.fault.Holder != busy.Holder {
				t.Errorf("the holder is %q", got.fault.Holder)
			}
			if (got.header.Get("Retry-After") != "") != (c.status == 503) {
				t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
			}
		})
	}
}
