package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

// KeyProvider returns the model provider or search service with an id. ErrInvalid if it uses no key.
func KeyProvider(c *catalog.Catalog, id string) (catalog.Provider, error) {
	p, err := c.Provider(id)
	for _, s := range SearchProviders() {
		if s.ID == id {
			p, err = s, nil
		}
	}
	if err == nil && p.Protocol == catalog.ProtocolVertex {
		err = fault.New(pawl.ErrInvalid, "%s uses no API key: it authenticates with Google Application Default Credentials", p.ID)
	}
	return p, err
}

// SearchProviders returns the search services that take an API key.
func SearchProviders() []catalog.Provider {
	var out []catalog.Provider
	for _, p := range websearch.Providers() {
		out = append(out, catalog.Provider{ID: p.ID, Name: p.ID, Protocol: "search", EnvKeys: p.EnvKeys})
	}
	return out
}

// TestKey tests a provider's API key with a small request, and returns where the key comes from. An
// empty baseURL means the one that sessions use.
func TestKey(ctx context.Context, p catalog.Provider, keys *auth.Keys, baseURL string) (auth.Outcome, string, error) {
	key, origin, err := keys.Key(AuthProvider(p))
	if err != nil {
		return auth.Outcome{}, "", err
	}
	if baseURL, err = baseURLOf(p, baseURL); err != nil {
		return auth.Outcome{}, "", err
	}
	o, err := auth.Check(ctx, auth.Target{Protocol: string(p.Protocol), Dialect: p.Dialect, BaseURL: baseURL}, key)
	if err != nil {
		return o, origin, fmt.Errorf("test the %s key: %w", p.ID, err)
	}
	return o, origin, nil
}

// baseURLOf returns the base URL for requests to p: the given one or, if it is "", the one that
// sessions use.
func baseURLOf(p catalog.Provider, given string) (string, error) {
	user, err := LoadUser()
	if err != nil {
		return "", err
	}
	account := ""
	if p.BaseURLEnv != "" {
		account = os.Getenv(p.BaseURLEnv)
	}
	return strings.TrimRight(cmp.Or(given, user.Providers[p.ID].BaseURL, account, p.BaseURL), "/"), nil
}
