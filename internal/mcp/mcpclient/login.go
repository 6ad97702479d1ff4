package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/egress"
)

// Login performs an OAuth login to a server in the user's browser and stores
// the tokens. It waits for the user as long as ctx lasts.
func (s *Servers) Login(ctx context.Context, server Server) error {
	c := s.config
	a, err := server.address()
	switch {
	case server.Transport == Stdio:
		return fault.New(pawl.ErrInvalid, "MCP server %s is a local program and has no login", server.Name).Hint("Set its credentials in env.")
	case err != nil:
		return fmt.Errorf("log in to %s: %w", server.Name, err)
	case c.Tokens == nil:
		return fault.New(pawl.ErrUnavailable, "log in to %s: no place to store logins", server.Name)
	}
	f := &flow{config: c, server: server, resource: a.url.String(), client: c.client(ctx, server, a, &meter{})}
	kept, err := f.run(ctx)
	if err != nil {
		return fmt.Errorf("log in to %s: %w", server.Name, err)
	}
	if err := c.save(kept); err != nil {
		return fmt.Errorf("log in to %s: %w", server.Name, err)
	}
	s.loggedIn(server)
	return nil
}

// loggedIn retries the servers that need this login.
func (s *Servers) loggedIn(server Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, links := range s.links {
		for _, l := range links {
			if l.server.URL == server.URL {
				l.tryAgain()
			}
		}
	}
}

// LoggedIn reports whether tokens for the server are stored. It does not check
// that they are still valid.
func (s *Servers) LoggedIn(server Server) (bool, error) {
	if server.Transport == Stdio {
		return false, nil
	}
	a, err := server.address()
	if err != nil {
		return false, err
	}
	kept, err := s.config.load(a.url.String())
	return kept != nil, err
}

// Logout deletes the stored tokens.
func (s *Servers) Logout(server Server) error {
	a, err := server.address()
	if err != nil || s.config.Tokens == nil {
		return fault.New(pawl.ErrNotFound, "not logged in to %s", server.Name)
	}
	err = s.config.Tokens.Delete(tokenName(a.url.String()))
	if errors.Is(err, auth.ErrNoKey) {
		err = pawl.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("log out of %s: %w", server.Name, err)
	}
	return nil
}

// flow is a login in progress.
type flow struct {
	config   Config
	server   Server
	resource string
	client   *http.Client // only reaches the server's own origin
}

func (f *flow) run(ctx context.Context) (*credentials, error) {
	challenge, err := f.challenge(ctx)
	if err != nil {
		return nil, err
	}
	issuer, scopes, err := f.discover(ctx, challenge)
	if err != nil {
		return nil, err
	}
	kept, err := f.config.load(f.resource)
	if err != nil {
		return nil, err
	}
	if kept != nil && kept.Issuer != issuer {
		return nil, fault.New(pawl.ErrDenied, "the issuer of logins has changed to %.100q (the stored login is from %.100q): nothing was sent to either", issuer, kept.Issuer).Hint("If the change is legitimate, run `pawl mcp logout %s` first.", f.server.Name)
	}
	meta, err := f.metadata(ctx, issuer)
	if err != nil {
		return nil, err
	}
	back, err := listen(meta.Issuer, meta.AuthorizationResponseIssParameterSupported)
	if err != nil {
		return nil, err
	}
	defer back.close()
	config, err := f.register(ctx, meta, kept, back.url)
	if err != nil {
		return nil, err
	}
	config.Scopes = scopes
	token, err := f.authorize(ctx, config, back)
	if err != nil {
		return nil, err
	}
	kept = &credentials{
		Resource: f.resource, Issuer: issuer, TokenURL: config.Endpoint.TokenURL,
		ClientID: config.ClientID, Secret: config.ClientSecret,
	}
	kept.take(token)
	return kept, nil
}

// challenge returns the authentication challenges that the server sends to a
// request without a token.
func (f *flow) challenge(ctx context.Context) ([]oauthex.Challenge, error) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + oldProtocol + `","capabilities":{},"clientInfo":{"name":"pawl","version":"1"}}}`
	method, body := http.MethodPost, io.Reader(bytes.NewReader([]byte(hello)))
	if f.server.Transport == SSE {
		method, body = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, f.resource, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		return nil, fmt.Errorf("the server does not ask for a login (%d %s)", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, fmt.Errorf("unreadable login request: %s", line(err.Error(), whyChars))
	}
	return challenges, nil
}

// discover returns the server's authorization server, as published at the
// server's own origin.
func (f *flow) discover(ctx context.Context, challenges []oauthex.Challenge) (issuer string, scopes []string, err error) {
	a, err := f.server.address()
	if err != nil {
		return "", nil, err
	}
	root := a.origin + "/.well-known/oauth-protected-resource"
	path := strings.TrimRight(a.url.EscapedPath(), "/")
	tries := []struct{ at, resource string }{{root + path, f.resource}, {root, f.resource}, {root, a.origin}}
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			tries = slices.Insert(tries, 0, struct{ at, resource string }{at, f.resource})
		}
		if words := strings.Fields(c.Params["scope"]); len(words) > 0 {
			scopes = words
		}
	}
	for _, try := range tries {
		meta, tryErr := oauthex.GetProtectedResourceMetadata(ctx, try.at, try.resource, f.client)
		if tryErr != nil {
			err = cmp.Or(err, tryErr) // the first URL is the standard one
			continue
		}
		if len(meta.AuthorizationServers) == 0 {
			return "", nil, errors.New("the server does not name an issuer of logins")
		}
		if scopes == nil {
			scopes = meta.ScopesSupported
		}
		if len(f.server.OAuth.Scopes) > 0 {
			scopes = f.server.OAuth.Scopes
		}
		return meta.AuthorizationServers[0], scopes, nil
	}
	return "", nil, fmt.Errorf("the server does not name an issuer of logins: %s", line(err.Error(), whyChars))
}

// metadata returns the metadata of the issuer, with all URLs checked.
func (f *flow) metadata(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	if _, err := pageURL(issuer, f.server.Local); err != nil {
		return nil, fmt.Errorf("issuer %.100q: %w", issuer, err)
	}
	client, err := f.config.issuerClient(f.server, issuer)
	if err != nil {
		return nil, err
	}
	meta, err := sdkauth.GetAuthServerMetadata(ctx, issuer, client)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the metadata of issuer %.100q: %s", issuer, line(err.Error(), whyChars))
	case meta == nil:
		return nil, fmt.Errorf("issuer %.100q has no login metadata", issuer)
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return nil, fmt.Errorf("issuer %.100q does not support PKCE with S256", issuer)
	}
	for _, e := range []struct{ name, at string }{
		{"authorization_endpoint", meta.AuthorizationEndpoint}, {"token_endpoint", meta.TokenEndpoint},
	} {
		if _, err := pageURL(e.at, f.server.Local); err != nil {
			return nil, fmt.Errorf("%s not allowed: %w", e.name, err)
		}
	}
	return meta, nil
}

// issuerClient returns an HTTP client for the host of one URL of an
// authorization server. It follows no redirects, because its requests contain
// codes and tokens.
func (c Config) issuerClient(s Server, at string) (*http.Client, error) {
	u, err := pageURL(at, s.Local)
	if err != nil {
		return nil, fmt.Errorf("%.100q is not allowed: %w", at, err)
	}
	own := s
	own.Local = s.Local && loopback(u)
	return c.guard(own, newAddress(u)).Client(egress.ClientConfig{}), nil
}

// register returns the client credentials at the issuer: those of the entry,
// those of an earlier login, or newly registered ones.
func (f *flow) register(ctx context.Context, meta *oauthex.AuthServerMeta, kept *credentials, back string) (*oauth2.Config, error) {
	config := &oauth2.Config{
		ClientID: f.server.OAuth.ClientID, RedirectURL: back,
		Endpoint: oauth2.Endpoint{AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint, AuthStyle: oauth2.AuthStyleInParams},
	}
	switch {
	case config.ClientID != "":
		return config, nil
	case kept != nil && kept.Secret != "":
		config.ClientID, config.ClientSecret = kept.ClientID, kept.Secret
		return config, nil
	case meta.RegistrationEndpoint == "":
		return nil, errors.New("automatic registration is not available: create a client id and set it as oauth.client_id")
	}
	client, err := f.config.issuerClient(f.server, meta.RegistrationEndpoint)
	if err != nil {
		return nil, err
	}
	r, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: "pawl", RedirectURIs: []string{back}, TokenEndpointAuthMethod: "none", ApplicationType: "native",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}, client)
	if err != nil {
		return nil, fmt.Errorf("register: %s", line(err.Error(), whyChars))
	}
	config.ClientID, config.ClientSecret = r.ClientID, r.ClientSecret
	return config, nil
}

// authorize lets the user agree in their browser and exchanges the code for a
// token.
func (f *flow) authorize(ctx context.Context, config *oauth2.Config, back *listener) (*oauth2.Token, error) {
	verifier := oauth2.GenerateVerifier()
	back.state = rand.Text()
	resource := oauth2.SetAuthURLParam("resource", f.resource)
	page := config.AuthCodeURL(back.state, oauth2.S256ChallengeOption(verifier), resource)
	if _, err := pageURL(page, f.server.Local); err != nil {
		return nil, fmt.Errorf("authorization_endpoint not allowed: %w", err)
	}
	open := f.config.Open
	if open == nil {
		open = OpenBrowser
	}
	back.serve()
	if err := open(ctx, page); err != nil {
		return nil, err
	}
	code, err := back.wait(ctx)
	if err != nil {
		return nil, err
	}
	client, err := f.config.issuerClient(f.server, config.Endpoint.TokenURL)
	if err != nil {
		return nil, err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), code, oauth2.VerifierOption(verifier), resource)
	if err != nil {
		return nil, fmt.Errorf("get the token: %s", line(err.Error(), whyChars))
	}
	return token, nil
}
