package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	sessioncmd "github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// teamServer is a server that is configured like 'pawl serve --listen', with a fake clock.
type teamServer struct {
	*testing.T
	app *app.App
	url string
	now time.Time
}

func serveTeam(t *testing.T) *teamServer {
	t.Helper()
	t.Setenv("PAWL_DATA", filepath.Join(t.TempDir(), "data"))
	t.Setenv("HOME", t.TempDir())
	a, err := app.Open(t.Context(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &teamServer{T: t, app: a, url: "http://" + l.Addr().String(), now: time.Now()}
	var f serverFlags
	g, err := f.authenticator(t.Context(), listenAddress{address: l.Addr().String()}, a.RawStore, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.access.Clock = func() time.Time { return s.now }
	srv := httpapi.New(httpapi.Config{
		Service: func(p api.Principal) pawl.Service { return g.access.For(a.Service, p) }, Auth: g.authenticate, Hosts: []string{"127.0.0.1"},
	})
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := errors.Join(srv.Close(ctx), <-done, a.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// token creates a token and returns its secret.
func (s *teamServer) token(name string, f tokenFlags) string {
	s.Helper()
	f.expires = "1d"
	t, err := f.token(name, s.now)
	if err != nil {
		s.Fatal(err)
	}
	var out strings.Builder
	if err := f.create(s.Context(), &out, s.app.RawStore, t); err != nil {
		s.Fatal(err)
	}
	secret, _, _ := strings.Cut(out.String(), "\n")
	return secret
}

func (s *teamServer) client(secret string) *client.Client {
	s.Helper()
	c, err := client.New(client.Config{URL: s.url, Token: secret})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// TestTeamOverHTTP checks that users reach only sessions that they own or that are shared with them, and that tokens
// cannot exceed their scope.
func TestTeamOverHTTP(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := serveTeam(t)
	ada := s.client(s.token("ada", tokenFlags{user: "ada", scope: "run"}))
	bob := s.client(s.token("bob", tokenFlags{user: "bob", scope: "run"}))
	looks := s.client(s.token("looks", tokenFlags{user: "ada", scope: "read"}))
	session, err := ada.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil || session.Owner != "ada" {
		t.Fatalf("%+v, %v", session, err)
	}
	if _, err := bob.Get(t.Context(), session.ID); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("bob got %v", err)
	}
	if err := looks.Rename(t.Context(), session.ID, "x"); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("one who may look got %v", err)
	}
	if err := ada.Share(t.Context(), session.ID, []pawl.User{"bob"}); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Get(t.Context(), session.ID); err != nil {
		t.Errorf("bob, with whom it is shared: %v", err)
	}
	if err := bob.Rename(t.Context(), session.ID, "x"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("bob, who may read, got %v", err)
	}
	for _, secret := range []string{"", "pawl_", access.NewSecret()} {
		if _, err := s.client(secret).List(t.Context(), pawl.Filter{}); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("%q got %v", secret, err)
		}
	}
	if err := revoke(t.Context(), s.app.RawStore, "bob", s.now); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(5 * time.Second)
	if _, err := bob.Get(t.Context(), session.ID); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("bob, whose token is revoked, got %v", err)
	}
}

// TestLimitsOverHTTP checks that a request beyond a limit fails with status 429 and a Retry-After header.
func TestLimitsOverHTTP(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := serveTeam(t)
	secret := s.token("ci", tokenFlags{user: "ci", scope: "admin", limitFlags: limitFlags{rate: 4, budget: 1e-6}})
	dir := t.TempDir()
	script := filepath.Join(dir, "script.jsonl")
	if err := os.WriteFile(script, []byte(`{"text":"Ok.","usage":{"cost":1000}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ci := s.client(secret)
	session, err := ci.Create(t.Context(), pawl.NewSession{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script}}
	seq, err := ci.Send(t.Context(), session.ID, p)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range s.app.Events(t.Context(), session.ID, seq) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(pawl.TurnFinished); ok {
			break
		}
	}
	if _, err := ci.Send(t.Context(), session.ID, p); !errors.Is(err, api.ErrLimited) || !strings.Contains(err.Error(), "budget") {
		t.Errorf("beyond the budget: %v", err)
	}
	if _, err := ci.Get(t.Context(), session.ID); err != nil { // the fourth request
		t.Error(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/sessions", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "15" {
		t.Errorf("%s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
}

// TestStreamsOfAToken checks the limit on the open streams of a token.
func TestStreamsOfAToken(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := serveTeam(t)
	secret := s.token("ada", tokenFlags{user: "ada", scope: "run", limitFlags: limitFlags{streams: 1}})
	session, err := s.client(secret).Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	watch := func(secret string) (status int, end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/sessions/"+string(session.ID)+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(r) //nolint:bodyclose // end closes it
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, func() { cancel(); _ = resp.Body.Close() }
	}
	first, end := watch(secret)
	second, endSecond := watch(secret)
	other, endOther := watch(s.token("more", tokenFlags{user: "ada", scope: "read", limitFlags: limitFlags{streams: 1}}))
	endSecond()
	endOther()
	if first != http.StatusOK || second != http.StatusTooManyRequests || other != http.StatusOK {
		t.Errorf("the first got %d, the second %d, that of another token %d", first, second, other)
	}
	end()
	for again := http.StatusTooManyRequests; again != http.StatusOK; { // it takes the server a moment to notice
		again, end = watch(secret)
		end()
		if again != http.StatusOK && again != http.StatusTooManyRequests {
			t.Fatal(again)
		}
	}
}

// TestOwnersAreListed checks that a list has a column of owners if a session has an owner.
func TestOwnersAreListed(t *testing.T) {
	t.Parallel()
	mine, adas := pawl.Session{ID: "01JD0000000000000000000000", Title: "mine"}, pawl.Session{ID: "01JD0000000000000000000001", Owner: "ada", Title: "hers"}
	for _, c := range []struct {
		sessions []pawl.Session
		want     string
	}{
		{[]pawl.Session{mine}, "UPDATED STATE TURNS NAME"},
		{[]pawl.Session{mine, adas}, "UPDATED OWNER STATE TURNS NAME"},
	} {
		var out strings.Builder
		if err := sessioncmd.PrintSessions(&out, c.sessions); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(out.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != "ID "+c.want || strings.Contains(rest, "ada") != strings.Contains(c.want, "OWNER") {
			t.Errorf("got\n%s", out.String())
		}
	}
}
