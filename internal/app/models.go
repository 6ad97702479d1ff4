package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// NewModels returns an opener for models with the user's configuration and API keys. The opener
// reads the catalog and the keys when it opens a model.
func NewModels() (*provider.Opener, error) { return newModels(&catalogCache{}) }

func newModels(known *catalogCache) (*provider.Opener, error) {
	user, err := LoadUser()
	if err != nil {
		return nil, err
	}
	keys, err := OpenKeys()
	if err != nil {
		return nil, err
	}
	endpoints := make(map[string]provider.Endpoint, len(user.Providers))
	for id, p := range user.Providers { // OpenCatalog applies their base URLs
		endpoints[id] = provider.Endpoint{Headers: p.Headers}
	}
	limiter, err := ratelimit.New(CallBounds(user))
	if err != nil {
		return nil, err
	}
	return &provider.Opener{Config: provider.Config{
		Catalog:   known.get,
		Key:       func(p catalog.Provider) (string, error) { return keyOf(keys, p) },
		Endpoints: endpoints,
		Fallback:  user.Fallback,
		RateLimit: limiter,
		SmallRef:  user.SmallModel,
	}}, nil
}

// ForgetModels makes the App read the catalog, the base URLs and the API keys again when it needs them
// next.
func (a *App) ForgetModels() {
	a.catalog.forget()
	if a.opener != nil {
		a.opener.Forget()
	}
	if a.Projects != nil {
		a.Projects.ForgetModels()
	}
}

// keyOf returns the key of a provider. A local one needs none.
func keyOf(keys *auth.Keys, p catalog.Provider) (string, error) {
	key, _, err := keys.Key(AuthProvider(p))
	if p.Local && errors.Is(err, auth.ErrNoKey) {
		return "", nil
	}
	return key.Reveal(), err
}

// CallBounds returns the configured limits for concurrent model requests, by provider.
func CallBounds(user config.User) map[string]ratelimit.Bounds {
	bounds := map[string]ratelimit.Bounds{}
	for id, p := range user.Providers {
		if c := p.Calls; c != nil {
			bounds[id] = ratelimit.Bounds{Calls: c.Max, Models: c.Models, Wait: time.Duration(c.Wait) * time.Second}
		}
	}
	return bounds
}

// ConfiguredModel returns the default model of sessions: PAWL_MODEL or the one in the user's
// configuration. It returns "" if neither is set.
func ConfiguredModel() (string, error) {
	user, err := LoadUser()
	return cmp.Or(os.Getenv("PAWL_MODEL"), user.Model), err
}

// FoundKey describes an API key without revealing it.
type FoundKey struct {
	Provider string `json:"provider"`
	Origin   string `json:"origin"`
	Length   int    `json:"length"`
}

// FindKeys returns the API keys found for providers.
func FindKeys(keys *auth.Keys, providers []catalog.Provider) ([]FoundKey, error) {
	found := []FoundKey{}
	for _, p := range providers {
		key, origin, err := keys.Key(AuthProvider(p))
		if errors.Is(err, auth.ErrNoKey) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, FoundKey{p.ID, origin, len(key)})
	}
	return found, nil
}

// ModelHelp returns the help text for users who have not configured a model.
func ModelHelp(ctx context.Context) (string, error) {
	c, keys, err := CatalogAndKeys()
	if err != nil {
		return "", err
	}
	found, err := FindKeys(keys, c.Providers)
	if err != nil {
		return "", err
	}
	var foundKeys []auth.FoundKey
	for _, k := range found {
		m, _ := c.Default(k.Provider)
		foundKeys = append(foundKeys, auth.FoundKey{Provider: k.Provider, Origin: k.Origin, Model: m.Ref})
	}
	var servers []auth.FoundServer
	for _, s := range catalog.Local(ctx, c.Locals()...) {
		server := auth.FoundServer{Name: s.Provider.Name}
		for _, m := range s.Models {
			server.Models = append(server.Models, m.Ref)
		}
		servers = append(servers, server)
	}
	return auth.Help(foundKeys, servers), nil
}

// UsableModel returns a model that could be used: the recommended one of a provider with a key, or one
// of a local server. It returns "" if it finds none.
func UsableModel(ctx context.Context) string {
	c, keys, err := CatalogAndKeys()
	if err != nil {
		return ""
	}
	found, err := FindKeys(keys, c.Providers)
	if err != nil {
		return "" // 'pawl auth list' reports it
	}
	for _, k := range found {
		if m, ok := c.Default(k.Provider); ok {
			return m.Ref
		}
	}
	for _, s := range catalog.Local(ctx, c.Locals()...) {
		for _, m := range s.Models {
			return m.Ref
		}
	}
	return ""
}

// KnownModel returns an error if ref is neither a model in the catalog nor a script.
func KnownModel(ref string) error {
	if ref == "" || ref == script.DemoRef || strings.HasPrefix(ref, "script:") {
		return nil
	}
	c, err := OpenCatalog()
	if err != nil {
		return err
	}
	_, err = c.Lookup(ref)
	return err
}

// OpenCatalog returns the model catalog, extended by models.json in pawl's data directory, with the
// base URLs of the user's configuration.
func OpenCatalog() (*catalog.Catalog, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	c, err := catalog.Open(filepath.Join(data, "models.json"))
	if err != nil {
		return nil, err
	}
	user, err := LoadUser()
	if err != nil {
		return nil, err
	}
	for i, p := range c.Providers {
		if url := user.Providers[p.ID].BaseURL; url != "" {
			c.Providers[i].BaseURL, c.Providers[i].BaseURLEnv = url, ""
		}
	}
	keys, err := OpenKeys()
	if err != nil {
		return nil, err
	}
	c.HasKey = func(p catalog.Provider) bool {
		_, _, err := keys.Key(AuthProvider(p))
		return err == nil // an error counts as no key; 'pawl auth list' reports it
	}
	return c, nil
}

// catalogCache opens the catalog when it is needed, and again after forget.
type catalogCache struct {
	mu   sync.Mutex
	open *catalog.Catalog
}

func (k *catalogCache) get() (c *catalog.Catalog, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		if k.open, err = OpenCatalog(); err != nil {
			return nil, err
		}
	}
	return k.open, nil
}

func (k *catalogCache) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = nil
}

// CatalogAndKeys returns the model catalog and the API keys of the user.
func CatalogAndKeys() (*catalog.Catalog, *auth.Keys, error) {
	c, err := OpenCatalog()
	if err != nil {
		return nil, nil, err
	}
	keys, err := OpenKeys()
	return c, keys, err
}

// AuthProvider converts a provider of the catalog to one of package auth.
func AuthProvider(p catalog.Provider) auth.Provider {
	return auth.Provider{ID: p.ID, EnvKeys: p.EnvKeys}
}
