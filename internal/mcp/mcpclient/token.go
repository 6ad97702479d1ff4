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

// errLogin: the server wants a token, and there is none that it takes.
var errLogin = errors.New("it wants a login")

// credentials are what a login has brought. They are for one resource and from
// one issuer: they are shown to that resource, and renewed at that issuer's own
// address, whatever the server says later.
type credentials struct {
	Resource string    `json:"resource"` // the server's address
	Issuer   string    `json:"issuer"`
	TokenURL string    `json:"token_url"` // as the issuer named it at the login
	ClientID string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

// tokenName is where the credentials of a resource are kept.
func tokenName(resource string) string {
	sum := sha256.Sum256([]byte(resource))
	return "mcp-" + hex.EncodeToString(sum[:12])
}

// load returns what is kept for the resource; nil if nothing is, or if it is
// another's.
func (c Config) load(resource string) (*credentials, error) {
	if c.Tokens == nil {
		return nil, nil
	}
	text, err := c.Tokens.Get(tokenName(resource))
	if errors.Is(err, auth.ErrNoKey) || errors.Is(err, auth.ErrNoKeyring) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the login: %w", err)
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
		return fmt.Errorf("keep the login: %w", err)
	}
	return nil
}

// tokens gives a connection its tokens. It never asks a person: a server that
// takes none of them needs a login.
type tokens struct {
	config   Config
	resource string
	server   Server

	mu     sync.Mutex
	kept   *credentials
	loaded bool
	spent  string // the token that the server last refused
}

var (
	_ sdkauth.OAuthHandler = (*tokens)(nil)
	_ oauth2.TokenSource   = (*tokens)(nil)
)

// tokens returns the tokens for a server on the network.
func (l *link) tokens(a *address) *tokens {
	return &tokens{config: l.config, resource: a.url.String(), server: l.server}
}

// TokenSource implements auth.OAuthHandler.
func (t *tokens) TokenSource(context.Context) (oauth2.TokenSource, error) {
	for name := range t.server.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return nil, nil // the entry brings its own
		}
	}
	if t.config.Tokens == nil {
		return nil, nil
	}
	return t, nil
}

// renewWait bounds how long a renewal may take.
const renewWait = 30 * time.Second

// Token returns the token that is kept, renewed if its time is over. Without
// one it returns nil: the server says whether it wants any.
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

// refresh renews the token where it came from. The caller holds mu.
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
		return fmt.Errorf("renew the login: %w", err)
	}
	t.kept.take(token)
	return t.config.save(t.kept)
}

// take takes over a token.
func (k *credentials) take(token *oauth2.Token) {
	k.Access, k.Expiry = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		k.Refresh = token.RefreshToken
	}
}

// Authorize is called when the server has refused a request. A token that it
// did not take is renewed once; what the server says of where to get another is
// for a login, with a person.
func (t *tokens) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return nil // it knows who asks, and says no: that is the answer
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

// bearer adds the token for a transport that does not know of any.
func bearer(next http.RoundTripper, t *tokens) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
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
