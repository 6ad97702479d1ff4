package httpapi_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// link makes a link and returns its URL, without the host.
func (b *testServer) link(token, body string) string {
	b.Helper()
	got := b.send(request{method: "POST", path: "/v1/devices/links", token: token, body: body})
	m := regexp.MustCompile(`"url":"http://[^/"]+(/signin\?link=pawl_link_[\w-]{43})"`).FindStringSubmatch(got.text)
	if got.status != 201 || m == nil {
		b.Fatalf("create a link: %d %s", got.status, got.text)
	}
	return m[1]
}

var hidden = regexp.MustCompile(`name="link" value="([^"]+)"`)

// form returns the request that the button of the sign-in page sends.
func (b *testServer) form(link string) request {
	b.Helper()
	page := b.send(request{method: "GET", path: link, token: "-"})
	m := hidden.FindStringSubmatch(page.text)
	if page.status != 200 || m == nil {
		b.Fatalf("the page: %d %s", page.status, page.text)
	}
	return request{
		method: "POST", path: "/signin", token: "-", body: url.Values{"link": {html.UnescapeString(m[1])}}.Encode(),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://" + b.addr},
	}
}

// signIn signs a browser in, and returns its cookie.
func (b *testServer) signIn(link string) string {
	b.Helper()
	got := b.send(b.form(link))
	set := got.header.Values("Set-Cookie")
	if got.status != http.StatusSeeOther || len(set) != 1 {
		b.Fatalf("sign in: %d %s %v", got.status, got.text, set)
	}
	cookie, _, _ := strings.Cut(set[0], ";")
	return cookie
}

// own returns the headers of a request that a page of the server sends.
func (b *testServer) own(cookie string) map[string]string {
	return map[string]string{"Cookie": cookie, "Origin": "http://" + b.addr}
}

// token adds an API token to the store and returns its secret.
func (b *testServer) token(t store.Token) (secret string) {
	b.Helper()
	secret = access.NewSecret()
	t.ID, t.Hash, t.Created = ulid.Make().String(), access.Hash(secret), time.Now()
	if t.Name == "" {
		t.Name = strings.ToLower(t.ID)
	}
	if err := b.access.Tokens.AddToken(b.Context(), t); err != nil {
		b.Fatal(err)
	}
	return secret
}

// deviceRoutes signs browsers in, lists them and signs them out.
func deviceRoutes(b *testServer) {
	var list api.Devices
	b.ask(200, "GET", "/v1/devices", "", &list)
	if len(list.Devices) != 0 {
		b.Errorf("before: %+v", list)
	}
	cookie := b.signIn(b.link("", `{"name":"laptop","scope":"approve"}`))
	other := b.signIn(b.link("", `{}`))
	b.refused(409, pawl.CodeConflict, "POST", "/v1/devices/links", `{"name":"laptop"}`)
	b.refused(400, pawl.CodeInvalid, "POST", "/v1/devices/links", `{"name":"a b"}`)
	b.refused(403, pawl.CodeDenied, "POST", "/v1/devices/links", `{"scope":"root"}`)
	b.ask(200, "GET", "/v1/devices", "", &list)
	if len(list.Devices) != 2 || list.Devices[1].Name != "laptop" || list.Devices[1].Scope != api.ScopeApprove || list.Devices[0].Scope != api.ScopeAdmin {
		b.Fatalf("devices: %+v", list)
	}
	laptop := list.Devices[1]
	if life := laptop.Expires.Sub(laptop.Created); laptop.Current || life != 90*24*time.Hour {
		b.Errorf("the laptop is %+v", laptop)
	}
	if got := b.send(request{method: "GET", path: "/v1/devices", token: "-", header: b.own(cookie)}); !strings.Contains(got.text, `"name":"laptop","scope":"approve"`) || !strings.Contains(got.text, `"current":true`) {
		b.Errorf("the laptop sees %d %s", got.status, got.text)
	}
	b.ask(204, "DELETE", "/v1/devices/"+laptop.ID, "", nil)
	b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/devices/"+laptop.ID, "")
	b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/devices/x", "")
	for cookie, want := range map[string]int{cookie: 401, other: 200} {
		if got := b.send(request{method: "GET", path: "/v1/sessions", token: "-", header: b.own(cookie)}); got.status != want {
			b.Errorf("after: %d %s, want %d", got.status, got.text, want)
		}
	}
}

// TestSignIn walks through the pages: a link works once, and looking at it does not use it up.
func TestSignIn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	link := b.link("", `{}`)
	for _, method := range []string{"HEAD", "GET", "GET"} {
		got := b.send(request{method: method, path: link, token: "-", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}})
		if got.status != 200 || got.header.Get("Set-Cookie") != "" || got.header.Get("Content-Type") != "text/html; charset=utf-8" || got.header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %d %v", method, got.status, got.header)
		}
		if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.HasSuffix(policy, "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %s", method, policy)
		}
	}
	q := b.form(link)
	got := b.send(q)
	set := got.header.Get("Set-Cookie")
	_, port, _ := strings.Cut(b.addr, ":")
	if got.status != 303 || got.header.Get("Location") != "/signin" || !regexp.MustCompile(`^pawl-`+port+`=pawl_device_[\w-]{43}; Path=/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$`).MatchString(set) {
		t.Fatalf("%d %v", got.status, got.header)
	}
	cookie, _, _ := strings.Cut(set, ";")
	if got := b.send(q); got.status != 401 || got.header.Get("Set-Cookie") != "" || !strings.Contains(got.text, "the link is not valid") {
		t.Errorf("a second time: %d %s", got.status, got.text)
	}
	page := request{method: "GET", path: "/signin", token: "-", header: map[string]string{"Cookie": cookie}}
	if got := b.send(page); !strings.Contains(got.text, "You are signed in") || !strings.Contains(got.text, "Scope admin.") {
		t.Errorf("signed in: %s", got.text)
	}
	out := request{method: "POST", path: "/signout", token: "-", header: b.own(cookie)}
	if got := b.send(out); got.status != 303 || !strings.Contains(got.header.Get("Set-Cookie"), "=; Path=/; Max-Age=0") {
		t.Errorf("sign out: %d %v", got.status, got.header)
	}
	if got := b.send(page); !strings.Contains(got.text, "You are not signed in") {
		t.Errorf("signed out: %s", got.text)
	}
	if got := b.send(out); got.status != 401 {
		t.Errorf("sign out again: %d", got.status)
	}
	if got := b.send(request{method: "GET", path: `/signin?link="><script>`, token: "-"}); strings.Contains(got.text, "<script>") {
		t.Errorf("the page has %s", got.text)
	}
}

// TestSecureCookie checks the cookie of a server that browsers reach with TLS.
func TestSecureCookie(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.URL, c.Hosts = "https://pawl.example.com", append(c.Hosts, "pawl.example.com")
	})
	secret, _, err := b.access.NewLink(t.Context(), api.Principal{Scope: api.ScopeAdmin}, api.NewLink{})
	if err != nil {
		t.Fatal(err)
	}
	q := b.form("/signin?link=" + secret)
	q.header["Origin"] = "https://pawl.example.com"
	if got := b.send(q); !regexp.MustCompile(`^__Host-pawl=pawl_device_[^;]+; Path=/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$`).MatchString(got.header.Get("Set-Cookie")) {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got := b.send(request{method: "POST", path: "/v1/devices/links", body: `{}`}); !strings.Contains(got.text, `"url":"https://pawl.example.com/signin?link=`) {
		t.Errorf("the link is %s", got.text)
	}
}

// TestCookies checks from where requests with a cookie are accepted.
func TestCookies(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const listed = "https://tools.example.com"
	b := newTestServer(t, nil, func(c *httpapi.Config) { c.Origins = []string{listed} })
	cookie := b.signIn(b.link("", `{}`))
	secret := strings.SplitN(cookie, "=", 2)[1]
	path := "/v1/sessions/" + string(b.create())
	api := b.token(store.Token{User: "ada", Scope: "run"})
	for _, c := range []struct {
		name        string
		header      map[string]string
		read, write int
	}{
		{"own page", map[string]string{"Origin": "http://" + b.addr}, 200, 204},
		{"own page, as the browser says", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200, 204},
		{"neither", nil, 200, 403},
		{"typed", map[string]string{"Sec-Fetch-Site": "none"}, 200, 403},
		{"no origin", map[string]string{"Origin": "null"}, 403, 403},
		{"same site", map[string]string{"Sec-Fetch-Site": "same-site"}, 403, 403},
		{"another port", map[string]string{"Origin": "http://127.0.0.1:1"}, 403, 403},
		{"another scheme", map[string]string{"Origin": "https://" + b.addr}, 403, 403},
		{"a listed origin", map[string]string{"Origin": listed}, 403, 403},
		{"with a token", map[string]string{"Origin": "http://" + b.addr, "Authorization": "Bearer " + api}, 403, 403},
		{"with an empty token", map[string]string{"Origin": "http://" + b.addr, "Authorization": "Bearer "}, 403, 403},
		{"twice", map[string]string{"Origin": "http://" + b.addr, "Cookie": cookie + "; " + cookie}, 403, 403},
		{"of another port", map[string]string{"Origin": "http://" + b.addr, "Cookie": "pawl-1=" + secret}, 401, 401},
		{"the name of TLS", map[string]string{"Origin": "http://" + b.addr, "Cookie": "__Host-" + cookie}, 401, 401},
		{"a wrong one", map[string]string{"Origin": "http://" + b.addr, "Cookie": cookie + "x"}, 401, 401},
	} {
		header := map[string]string{"Cookie": cookie}
		for name, value := range c.header {
			header[name] = value
		}
		got := []int{
			b.send(request{method: "GET", path: path, token: "-", header: header}).status,
			b.send(request{method: "PATCH", path: path, token: "-", body: `{"title":"x"}`, header: header}).status,
		}
		if !slices.Equal(got, []int{c.read, c.write}) {
			t.Errorf("%s: %v, want %d and %d", c.name, got, c.read, c.write)
		}
	}
	for what, bearer := range map[string]string{"the secret of a device": secret, "the secret of a link": strings.TrimPrefix(b.link("", `{}`), "/signin?link=")} {
		if got := b.send(request{method: "GET", path: path, token: bearer}); got.status != 401 {
			t.Errorf("%s as a token: %d", what, got.status)
		}
	}
	name, _, _ := strings.Cut(cookie, "=")
	if got := b.send(request{method: "GET", path: path, token: "-", header: map[string]string{"Cookie": name + "=" + api}}); got.status != 401 {
		t.Errorf("a token as a cookie: %d", got.status)
	}
}

// TestFormsOfOthers checks that only the sign-in page itself can sign a browser in.
func TestFormsOfOthers(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	for name, header := range map[string]map[string]string{
		"another site": {"Origin": "https://evil.test"}, "no origin": {"Origin": "null"}, "neither": {"Origin": ""},
		"typed": {"Origin": "", "Sec-Fetch-Site": "none"}, "cross-site": {"Origin": "", "Sec-Fetch-Site": "cross-site"},
	} {
		q := b.form(b.link("", `{}`))
		for name, value := range header {
			q.header[name] = value
		}
		if got := b.send(q); got.status != 403 || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	q := b.form(b.link("", `{}`))
	q.body += strings.Repeat("x", 8<<10)
	if got := b.send(q); got.status != 400 {
		t.Errorf("a large form: %d", got.status)
	}
	q = b.form(b.link("", `{}`))
	q.header["Content-Type"] = "text/plain"
	if got := b.send(q); got.status != 401 {
		t.Errorf("plain text: %d", got.status)
	}
}

// TestRevokedStreams checks that every open stream of a device ends when it is signed out, and shows nothing more.
func TestRevokedStreams(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.planned("")
	for _, r := range api.Routes {
		if r.OutForm != api.FormStream {
			continue
		}
		cookie := b.signIn(b.link("", `{}`))
		path := strings.ReplaceAll(r.Path, "{id}", string(id))
		stream, kept := b.openPath(path, map[string]string{"Authorization": "", "Cookie": cookie}), b.openPath(path, nil)
		for _, s := range []*eventStream{stream, kept} {
			if _, ok := s.block(); !ok {
				t.Fatalf("%s: it does not begin", r.Name)
			}
		}
		var list api.Devices
		b.ask(200, "GET", "/v1/devices", "", &list)
		b.ask(204, "DELETE", "/v1/devices/"+list.Devices[0].ID, "", nil)
		if err := b.svc.Rename(t.Context(), id, "secret of "+r.Name); err != nil {
			t.Fatal(err)
		}
		for fields, ok := stream.block(); ok; fields, ok = stream.block() {
			if strings.Contains(fields["data"], "secret of "+r.Name) {
				t.Errorf("%s shows %v", r.Name, fields)
			}
		}
		if r.Name == "streamItems" {
			continue // a title is not an item
		}
		for {
			fields, ok := kept.block()
			if !ok {
				t.Errorf("%s: the stream of another has ended too", r.Name)
			}
			if !ok || strings.Contains(fields["data"], "secret of "+r.Name) {
				break
			}
		}
	}
}
