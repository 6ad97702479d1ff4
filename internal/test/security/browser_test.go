//go:build sectest

package security

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
)

// webServer is a server in this process to which browsers can sign in, with a session of its operator.
type webServer struct {
	*served
	svc    pawl.Service
	access *access.Access
	now    time.Time
	id     pawl.SessionID
	path   string // of the session
}

// operator is the header of the server's own token.
var operator = as{"Authorization": "Bearer operator"}

// web starts one.
func (a *attackEnv) web(change ...func(*httpapi.Config)) *webServer {
	a.Helper()
	h := servicetest.Local(a.T)
	tokens, ok := h.Store.(store.Tokens)
	if !ok {
		a.Fatal("the store has no tokens")
	}
	s := &webServer{svc: h.Service, access: &access.Access{Tokens: tokens}, now: time.Now()}
	s.access.Clock = func() time.Time { return s.now }
	c := httpapi.Config{
		Service: func(p api.Principal) pawl.Service { return s.access.For(h.Service, p) }, Devices: s.access, Hosts: []string{"127.0.0.1"},
		Auth: func(r *http.Request) (api.Principal, error) {
			secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if secret == "operator" {
				return api.Principal{Token: access.ServerToken, Scope: api.ScopeAdmin}, nil
			}
			return s.access.Auth(r.Context(), secret)
		},
	}
	for _, f := range change {
		f(&c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	s.served = &served{a: a, addr: l.Addr().String()}
	srv := httpapi.New(c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	a.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.Context()), time.Minute)
		defer cancel()
		_ = srv.Close(ctx)
		<-done
	})
	row, err := h.Service.Create(a.Context(), pawl.NewSession{Dir: a.dir})
	if err != nil {
		a.Fatal(err)
	}
	s.id, s.path = row.ID, "/v1/sessions/"+string(row.ID)
	return s
}

// token adds an API token and returns its header.
func (s *webServer) token(t store.Token) as {
	s.a.Helper()
	secret := access.NewSecret()
	t.ID, t.Hash, t.Created = ulid.Make().String(), access.Hash(secret), s.now
	t.Name = strings.ToLower(t.ID)
	if err := s.access.Tokens.AddToken(s.a.Context(), t); err != nil {
		s.a.Fatal(err)
	}
	return as{"Authorization": "Bearer " + secret}
}

var linkSecret = regexp.MustCompile(`/signin\?link=([\w-]+)"`)

// link makes a link and returns its secret, "" if it is denied.
func (s *served) link(body string, header as) string {
	s.a.Helper()
	_, text, _ := s.ask("POST", "/v1/devices/links", body, header)
	m := linkSecret.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// redeem presses the button of the sign-in page, and returns the cookie and all of Set-Cookie.
func (s *served) redeem(link string, header as) (cookie, set string) {
	s.a.Helper()
	all := as{"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://" + s.addr}
	for name, value := range header {
		all[name] = value
		if value == "" {
			delete(all, name)
		}
	}
	_, _, h := s.ask("POST", "/signin", url.Values{"link": {link}}.Encode(), all)
	set = h.Get("Set-Cookie")
	cookie, _, _ = strings.Cut(set, ";")
	return cookie, set
}

// signIn signs the operator's browser in and returns its cookie.
func (s *served) signIn(header as) string {
	s.a.Helper()
	cookie, set := s.redeem(s.link("{}", header), nil)
	if cookie == "" {
		s.a.Fatalf("nobody can sign in: %q", set)
	}
	return cookie
}

// own are the headers of a request of the server's own page.
func (s *served) own(cookie string) as { return as{"Cookie": cookie, "Origin": "http://" + s.addr} }

// devices returns how many devices are signed in.
func (s *webServer) devices() int {
	s.a.Helper()
	all, err := s.access.Devices(s.a.Context(), api.Principal{Scope: api.ScopeAdmin})
	if err != nil {
		s.a.Fatal(err)
	}
	return len(all.Devices)
}

// stream opens an event stream, and returns a function that returns its next line.
func (s *webServer) stream(header as) func() (string, bool) {
	s.a.Helper()
	r, err := http.NewRequestWithContext(s.a.Context(), http.MethodGet, "http://"+s.addr+s.path+"/events", nil)
	if err != nil {
		s.a.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		s.a.Fatal(err)
	}
	s.a.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (string, bool) {
		more := lines.Scan()
		return lines.Text(), more
	}
}
