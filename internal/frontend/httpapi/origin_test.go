package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// TestOwnOrigin checks that the server's own pages may send requests of every kind, and that no
// page that looks like one of them may.
func TestOwnOrigin(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Hosts, c.URL = []string{"127.0.0.1", "localhost", "pawl.example.com"}, "https://pawl.example.com"
	})
	path := "/v1/sessions/" + string(b.create())
	_, port, _ := strings.Cut(b.addr, ":")
	for _, c := range []struct {
		host, origin, site string
		allowed            bool
	}{
		{b.addr, "http://" + b.addr, "", true},
		{b.addr, "http://" + b.addr, "same-origin", true},
		{"localhost:" + port, "http://localhost:" + port, "", true},
		{"LOCALHOST:" + port, "http://localhost:" + port, "", true},
		{"pawl.example.com", "https://pawl.example.com", "same-origin", true},
		{b.addr, "https://pawl.example.com", "", true}, // a proxy that sends its own Host
		{b.addr, "", "same-origin", true},
		{b.addr, "http://" + b.addr, "cross-site", false},
		{b.addr, "http://" + b.addr, "same-site", false},
		{b.addr, "https://" + b.addr, "", false},
		{b.addr, "http://127.0.0.1", "", false},
		{b.addr, "http://127.0.0.1:1", "", false},
		{b.addr, "http://localhost:" + port, "", false},
		{b.addr, "http://" + b.addr + ".evil.test", "", false},
		{b.addr, "http://evil.test", "same-origin", false},
		{b.addr, "null", "", false},
		{b.addr, "null", "same-origin", false},
		{b.addr, "http://pawl.example.com", "", false},
		{b.addr, "https://pawl.example.com:8443", "", false},
		{b.addr, "https://pawl.example.com.evil.test", "", false},
		{b.addr, "https://evil-pawl.example.com", "", false},
		{"pawl.example.com:81", "http://pawl.example.com", "", false},
	} {
		header := map[string]string{"Host": c.host, "Origin": c.origin, "Sec-Fetch-Site": c.site}
		got := []int{
			b.send(request{method: "GET", path: path, header: header}).status,
			b.send(request{method: "HEAD", path: path, header: header}).status,
			b.send(request{method: "PATCH", path: path, body: `{"title":"x"}`, header: header}).status,
			b.send(request{method: "POST", path: path + "/cancel", header: header}).status,
		}
		want := []int{403, 403, 403, 403}
		if c.allowed {
			want = []int{200, 200, 204, 204}
		}
		if !slices.Equal(got, want) {
			t.Errorf("host %q, origin %q, site %q: %v, want %v", c.host, c.origin, c.site, got, want)
		}
	}
}

// TestCORS checks that pages of a listed origin can use the API with a token, and nothing else.
func TestCORS(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const listed = "https://tools.example.com"
	b := newTestServer(t, nil, func(c *httpapi.Config) { c.Origins = []string{listed, "https://other.example.com"} })
	path := "/v1/sessions/" + string(b.create())
	preflight := map[string]string{"Origin": listed, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}
	got := b.send(request{method: "OPTIONS", path: path, token: "-", header: preflight})
	if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != listed ||
		!strings.Contains(got.header.Get("Access-Control-Allow-Methods"), "PATCH") ||
		got.header.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type, Last-Event-ID" {
		t.Errorf("preflight: %d %v", got.status, got.header)
	}
	page := map[string]string{"Origin": listed, "Sec-Fetch-Site": "cross-site"}
	for _, q := range []request{
		{method: "PATCH", path: path, body: `{"title":"x"}`}, {method: "GET", path: path},
		{method: "GET", path: path, token: "-"}, {method: "GET", path: "/nothing"}, {method: "OPTIONS", path: path, token: "-"},
	} {
		q.header = page
		got := b.send(q)
		if (got.status >= 300) != (q.token == "-" || q.path == "/nothing") || got.header.Get("Access-Control-Allow-Origin") != listed {
			t.Errorf("%s %s: %d %v", q.method, q.path, got.status, got.header)
		}
		if !slices.Contains(got.header.Values("Vary"), "Origin") || got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s %s: %v", q.method, q.path, got.header)
		}
	}
	for _, origin := range []string{"", "null", "https://evil.test", "http://tools.example.com", listed + ".evil.test", listed + ":444", "http://" + b.addr} {
		preflight["Origin"] = origin
		for _, method := range []string{"OPTIONS", "GET"} {
			got := b.send(request{method: method, path: path, header: preflight})
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s from %q: %s", method, origin, name)
				}
			}
			if method == "OPTIONS" && got.status < 400 || !slices.Contains(got.header.Values("Vary"), "Origin") {
				t.Errorf("%s from %q: %d %v", method, origin, got.status, got.header)
			}
		}
	}
	if got := b.send(request{method: http.MethodGet, path: path}); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without an origin: %d %v", got.status, got.header)
	}
}
