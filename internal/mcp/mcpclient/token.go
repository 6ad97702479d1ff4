package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/pawl-dev/pawl/internal/config/auth"
)

// errLogin means that the server requires a login: it accepts none of the
// stored tokens.
var errLogin = errors.New("login required")

// credentials are the result of a login. They belong to one resource and one
// issuer: they are only sent to that resource and renewed at that issuer's
// URL, whatever the server says later.
type credentials struct {
	Resource string    `json:"resource"` // the server's URL
	Issuer   string    `json:"issuer"`
	TokenURL string    `json:"token_url"` // as the issuer named it at login
	ClientID string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

// tokenName returns the name under which the credentials of a resource are
// stored.
func tokenName(resource string) string {
	sum := sha256.Sum256([]byte(resource))
	return "mcp-" + hex.EncodeToString(sum[:12])
}

// load returns the stored credentials of a resource; nil if none are
// stored or they belong to another resource.
func (c Config) load(resource string) (*credentials, error) {
	if c.Tokens == nil {
		return nil, nil
	}
	text, err := c.Tokens.Get(tokenName(resource))
	if errors.Is(err, auth.ErrNoKey) || errors.Is(err, auth.ErrNoKeyring) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read login: %w", err)
	}
	var kept credentials
	if json.Unmarshal([]byte(text.Reveal()), &kept) != nil || kept.Resource != resource {
		return nil, nil
	}
	return &kept, nil
}

func (c Config) save(kept *credentials) error {
	text, err := json.Marshal(kept)
	if err == nil {
		err = c.Tokens.Set(tokenName(kept.Resource), auth.Secret(text))
	}
	if err != nil {
		return fmt.Errorf("save login: %w", err)
	}
	return nil
}

// tokens is the token source of a connection. It never asks the user: if the
// server accepts no token, it needs a login.
type tokens struct {
	config   Config
	resource string
	server   Server

	mu     sync.Mutex
	kept   *credentials
	loaded bool
	spent  string // the token that the server last rejected
}

var (
	_ sdkauth.OAuthHandler = (*tokens)(nil)
	_ oauth2.TokenSource   = (*tokens)(nil)
)

// tokens returns the token source of a server on the network.
func (l *link) tokens(a *address) *tokens {
	return &tokens{config: l.config, resource: a.url.String(), server: l.server}
}

// TokenSource implements auth.OAuthHandler.
func (t *tokens) TokenSource(context.Context) (oauth2.TokenSource, error) {
	for name := range t.server.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return nil, nil // the entry has its own header
		}
	}
	if t.config.Tokens == nil {
		return nil, nil
	}
	return t, nil
}

// renewWait is how long a renewal may take.
const renewWait = 30 * time.Second

// Token returns the stored token, renewed if it has expired. Without one it
// returns nil: the server decides whether it needs one.
func (t *tokens) Token() (*oauth2.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.loaded {
		kept, err := t.config.load(t.resource)
		if err != nil {
			return nil, err
		}
		t.kept, t.loaded = kept, true
	}
	if t.kept == nil {
		return nil, nil
	}
	if soon := time.Now().Add(10 * time.Second); !t.kept.Expiry.IsZero() && t.kept.Expiry.Before(soon) {
		if err := t.refresh(); err != nil {
			return nil, err
		}
	}
	return &oauth2.Token{AccessToken: t.kept.Access}, nil
}

// refresh renews the token at its issuer. The caller holds mu.
func (t *tokens) refresh() error {
	if t.kept.Refresh == "" {
		return errLogin
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewWait)
	defer cancel()
	client, err := t.config.issuerClient(t.server, t.kept.TokenURL)
	if err != nil {
		return err
	}
	config := oauth2.Config{
		ClientID: t.kept.ClientID, ClientSecret: t.kept.Secret,
		Endpoint: oauth2.Endpoint{TokenURL: t.kept.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
	source := config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), &oauth2.Token{RefreshToken: t.kept.Refresh})
	token, err := source.Token()
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		return errLogin
	case err != nil:
		return fmt.Errorf("refresh login: %w", err)
	}
	t.kept.take(token)
	return t.config.save(t.kept)
}

// take stores a new token.
func (k *credentials) take(token *oauth2.Token) {
	k.Access, k.Expiry = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		k.Refresh = token.RefreshToken
	}
}

// Authorize is called when the server has rejected a request. It renews a
// rejected token once. What the server says about other issuers is only used
// in a login with the user.
func (t *tokens) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return nil // the token is valid but not sufficient: return the server's answer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil || t.kept.Access == t.spent {
		return errLogin
	}
	if err := t.refresh(); err != nil {
		return err
	}
	t.spent = t.kept.Access
	return nil
}

// bearer adds the token for a transport without OAuth support.
func bearer(next http.RoundTripper, t *tokens) http.RoundTripper {
	return transportFunc(func(req *http.Request) (*http.Response, error) {
		source, err := t.TokenSource(req.Context())
		if err != nil {
			return nil, err
		}
		if source != nil {
			token, err := source.Token()
			if err != nil {
				return nil, err
			}
			if token != nil {
				req = req.Clone(req.Context())
				req.Header.Set("Authorization", "Bearer "+token.AccessToken)
			}
		}
		resp, err := next.RoundTrip(req)
		if err == nil && resp.StatusCode == http.StatusUnauthorized {
			_ = resp.Body.Close()
			return nil, errLogin
		}
		return resp, err
	})
}
