package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
)

// ring keeps tokens.
type ring struct {
	mu   sync.Mutex
	kept map[string]auth.Secret
}

func (r *ring) Get(name string) (auth.Secret, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.kept[name]; ok {
		return s, nil
	}
	return "", auth.ErrNoKey
}

func (r *ring) Set(name string, s auth.Secret) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string]auth.Secret{}
	}
	r.kept[name] = s
	return nil
}

func (r *ring) Delete(name string) error {
	if _, err := r.Get(name); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.kept, name)
	return nil
}

// issuer is an authorization server. Its metadata can be made hostile.
type issuer struct {
	*httptest.Server
	change func(meta map[string]any) // of what it says of itself

	mu       sync.Mutex
	requests []string // what it was sent, by path and form
	codes    map[string]url.Values
	tokens   int
	revoked  bool // refresh tokens are not taken any more
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{codes: map[string]url.Values{}}
	i.Server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		meta := map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"registration_endpoint": i.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
			"response_types_supported": []string{"code"}, "authorization_response_iss_parameter_supported": true,
		}
		if i.change != nil {
			i.change(meta)
		}
		answer(meta)
	case "/register":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"client_id":"pawl-1","client_secret":"the-secret","redirect_uris":["http://127.0.0.1/callback"]}`)
	case "/authorize":
		code := fmt.Sprintf("code%d", len(i.codes))
		i.codes[code] = r.URL.Query()
		back := r.URL.Query().Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}, "iss": {i.URL}}.Encode()
		http.Redirect(w, r, back, http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		i.requests = append(i.requests, r.PostForm.Encode())
		i.token(w, r.PostForm, answer)
	default:
		http.NotFound(w, r)
	}
}

// token gives a token for a code with the right verifier, or for a refresh token.
func (i *issuer) token(w http.ResponseWriter, form url.Values, answer func(any)) {
	if form.Get("grant_type") == "refresh_token" {
		if form.Get("refresh_token") != "refresh" || i.revoked {
			w.WriteHeader(http.StatusBadRequest)
			answer(map[string]string{"error": "invalid_grant"})
			return
		}
	} else {
		asked := i.codes[form.Get("code")]
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			asked.Get("resource") == "" || form.Get("resource") != asked.Get("resource") {
			w.WriteHeader(http.StatusBadRequest)
			answer(map[string]string{"error": "invalid_grant"})
			return
		}
	}
	i.tokens++
	answer(map[string]any{"access_token": fmt.Sprintf("token%d", i.tokens), "token_type": "Bearer", "refresh_token": "refresh", "expires_in": 3600})
}

func (i *issuer) sent() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests
}

// guarded is a server that wants a token.
type guarded struct {
	*httptest.Server
	mu     sync.Mutex
	issuer string // that it names
	meta   string // where it says that its metadata is; "" means the usual place
	valid  string // the token that it takes
	seen   []string
}

func newGuarded(t *testing.T, issuer string) *guarded {
	t.Helper()
	g := &guarded{issuer: issuer, valid: "token1"}
	server := newServer("good", nil)
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.Server }, nil)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		issuer, meta, valid := g.issuer, g.meta, g.valid
		if token := r.Header.Get("Authorization"); token != "" {
			g.seen = append(g.seen, token)
		}
		g.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q],"scopes_supported":["use"]}`, g.URL+"/mcp", issuer)
		case r.Header.Get("Authorization") != "Bearer "+valid:
			challenge := `Bearer error="invalid_token"`
			if meta != "" {
				challenge += fmt.Sprintf(`, resource_metadata=%q`, meta)
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			mcp.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

func (g *guarded) set(issuer, valid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.issuer, g.valid = issuer, valid
}

// browser is a person who agrees to everything.
func browser(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// loginEnv is a server that wants a login, and who gives tokens for it.
type loginEnv struct {
	*env
	site   *guarded
	issuer *issuer
	ring   *ring
	opened []string
}

func newLogin(t *testing.T) *loginEnv {
	t.Helper()
	w := &loginEnv{issuer: newIssuer(t), ring: &ring{}}
	w.site = newGuarded(t, w.issuer.URL)
	w.env = &env{t: t, dir: t.TempDir(), host: &person{}, server: Server{Name: "fake", Transport: HTTP, URL: w.site.URL + "/mcp", Local: true}}
	w.Servers = New(Config{times: quick, Tokens: w.ring, Open: func(ctx context.Context, address string) error {
		w.opened = append(w.opened, address)
		return browser(ctx, address)
	}})
	t.Cleanup(w.Close)
	return w
}

func (w *loginEnv) start() {
	w.t.Helper()
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *loginEnv) login() {
	w.t.Helper()
	if err := w.Login(w.t.Context(), w.server); err != nil {
		w.t.Fatal(err)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w := newLogin(t)
	w.start()
	s := w.await("the wish for a login", func(s Status) bool { return s.State == NeedsLogin })
	if s.Why != "run `pawl mcp login fake`" || len(w.opened) > 0 {
		t.Errorf("%+v, opened %v", s, w.opened)
	}
	w.login()
	w.ready() // it is tried again
	if got := w.text("echo", `{}`); got != "{}" {
		t.Errorf("got %q", got)
	}
	var kept credentials
	secret, _ := w.ring.Get(tokenName(w.server.URL))
	if err := json.Unmarshal([]byte(secret.Reveal()), &kept); err != nil {
		t.Fatal(err)
	}
	want := credentials{
		Resource: w.server.URL, Issuer: w.issuer.URL, TokenURL: w.issuer.URL + "/token", ClientID: "pawl-1", Secret: "the-secret",
		Access: "token1", Refresh: "refresh", Expiry: kept.Expiry,
	}
	if diff := cmp.Diff(want, kept); diff != "" || kept.Expiry.IsZero() {
		t.Error(diff, kept.Expiry)
	}

	// The server takes that token no more: it is renewed where it came from.
	w.site.set(w.issuer.URL, "token2")
	if got := w.text("echo", `{}`); got != "{}" {
		t.Errorf("got %q", got)
	}
	// And when that does not help, somebody must log in again.
	w.site.set(w.issuer.URL, "another")
	if _, err := w.call("echo", `{}`); err == nil || !strings.Contains(err.Error(), "wants a login") {
		t.Errorf("got %v", err)
	}
	w.await("the wish for a login", func(s Status) bool { return s.State == NeedsLogin })
	if err := w.Logout(w.server); err != nil {
		t.Error(err)
	}
	if err := w.Logout(w.server); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := w.Login(t.Context(), Server{Name: "x", Transport: Stdio, Command: "x"}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("a program: %v", err)
	}
}

// stolen has a server name another issuer after a login, and returns what that
// one was sent.
func stolen(t *testing.T) (sent []string, login error) {
	w := newLogin(t)
	w.login()
	thief := newIssuer(t)
	w.site.set(thief.URL, "another")
	w.start()
	w.await("the wish for a login", func(s Status) bool { return s.State == NeedsLogin })
	login = w.Login(t.Context(), w.server)
	return thief.sent(), login
}

// What a login has brought is for one issuer: a server that names another later
// gets nothing sent there.
func TestBinding(t *testing.T) {
	t.Parallel()
	sent, err := stolen(t)
	if len(sent) > 0 || !errors.Is(err, pawl.ErrDenied) || !strings.Contains(fault.HintOf(err), "run `pawl mcp logout fake` first") {
		t.Errorf("sent %v, %v", sent, err)
	}
}

// opened has an issuer send the person to an address, and returns what the
// browser was given.
func opened(t *testing.T, endpoint string) ([]string, error) {
	w := newLogin(t)
	w.issuer.change = func(meta map[string]any) { meta["authorization_endpoint"] = endpoint }
	var all []string
	w.config.Open = func(_ context.Context, address string) error {
		all = append(all, address)
		return errors.New("it was opened")
	}
	err := w.Login(t.Context(), w.server)
	return all, err
}

// No browser is sent anywhere but to https, or to this machine.
func TestOpener(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{
		"file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "vscode://x", "x-apple.systempreferences:", "//evil.test/x",
		"http://evil.test/authorize", "http://10.0.0.1/authorize", "https://evil.test/$(touch x)`id`", "https://evil.test/a b",
		"https://user:pw@evil.test/", "--help", "https://evil.test/\"&calc.exe&\"", "",
	} {
		if got, err := opened(t, endpoint); len(got) > 0 || err == nil {
			t.Errorf("%s: opened %v, %v", endpoint, got, err)
		}
	}
}

// Further lies of a server, or of who it names.
func TestHostileLogins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *loginEnv)
		says   string
	}{
		"token endpoint elsewhere, plain": {func(w *loginEnv) {
			w.issuer.change = func(m map[string]any) { m["token_endpoint"] = "http://evil.test/token" }
		}, "evil.test"},
		"another issuer's name": {func(w *loginEnv) {
			w.issuer.change = func(m map[string]any) { m["issuer"] = "https://accounts.example.com" }
		}, "does not match"},
		"no PKCE": {func(w *loginEnv) {
			w.issuer.change = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		}, "does not support PKCE"},
		"metadata elsewhere": {func(w *loginEnv) {
			w.site.meta = w.issuer.URL + "/elsewhere"
			w.site.issuer = "http://127.0.0.1:1"
		}, "127.0.0.1:1"},
		"an issuer on the network within": {func(w *loginEnv) { w.site.issuer = "http://10.0.0.1" }, "10.0.0.1"},
		"an issuer that is no address":    {func(w *loginEnv) { w.site.issuer = "javascript:alert(1)" }, "scheme"},
		"a redirect with another's answer": {func(w *loginEnv) {
			w.config.Open = func(ctx context.Context, address string) error {
				u, _ := url.Parse(address)
				q := u.Query()
				back := q.Get("redirect_uri") + "?" + url.Values{"code": {"c"}, "state": {q.Get("state")}, "iss": {"https://evil.test"}}.Encode()
				return browser(ctx, back)
			}
		}, "the response comes from another issuer"},
		"an error": {func(w *loginEnv) {
			w.config.Open = func(ctx context.Context, address string) error {
				u, _ := url.Parse(address)
				q := u.Query()
				return browser(ctx, q.Get("redirect_uri")+"?"+url.Values{"error": {"no\x1b[2J"}, "state": {q.Get("state")}, "iss": {w.issuer.URL}}.Encode())
			}
		}, `the issuer answered: no\u{1b}[2J`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLogin(t)
			test.change(w)
			err := w.Login(t.Context(), w.server)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if n := len(w.issuer.sent()); n > 0 {
				t.Errorf("%d requests for tokens", n)
			}
			if _, err := w.ring.Get(tokenName(w.server.URL)); !errors.Is(err, auth.ErrNoKey) {
				t.Error("something was kept")
			}
		})
	}
}

// A token is shown to the server that it was given for, whatever is kept under
// its name.
func TestOthersToken(t *testing.T) {
	t.Parallel()
	w := newLogin(t)
	w.login()
	kept, err := w.ring.Get(tokenName(w.server.URL))
	if err != nil {
		t.Fatal(err)
	}
	other := newGuarded(t, w.issuer.URL)
	if err := w.ring.Set(tokenName(other.URL+"/mcp"), kept); err != nil {
		t.Fatal(err)
	}
	w.server.URL = other.URL + "/mcp"
	w.start()
	w.await("the wish for a login", func(s Status) bool { return s.State == NeedsLogin })
	other.mu.Lock()
	defer other.mu.Unlock()
	if len(other.seen) > 0 {
		t.Errorf("another server was shown %v", other.seen)
	}
}

// A server that does not ask for a login gets none.
func TestNeedlessLogin(t *testing.T) {
	t.Parallel()
	w := newLogin(t)
	w.server.URL = fakeSite(t, HTTP, "good")
	err := w.Login(t.Context(), w.server)
	if err == nil || !strings.Contains(err.Error(), "the server does not ask for a login") || len(w.opened) > 0 {
		t.Errorf("opened %v, %v", w.opened, err)
	}
}

// Who does not know the state is not listened to, and does not end the login.
func TestState(t *testing.T) {
	t.Parallel()
	w := newLogin(t)
	w.config.Open = func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		for _, forged := range []string{"?code=evil&state=guess", "?code=evil", "/x?code=evil&state=" + u.Query().Get("state")} {
			if err := browser(ctx, u.Query().Get("redirect_uri")+forged); err != nil {
				return err
			}
		}
		return browser(ctx, address)
	}
	w.login()
	for _, form := range w.issuer.sent() {
		if strings.Contains(form, "code=evil") {
			t.Errorf("a forged code was used: %s", form)
		}
	}
}
