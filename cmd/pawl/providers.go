package main

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
)

// newModels returns what opens models, by the user's configuration and keys.
// The catalog and the keys are read when a provider's model is opened.
func newModels() (*provider.Opener, error) {
	user, err := loadUser()
	if err != nil {
		return nil, err
	}
	keys, err := openKeys()
	if err != nil {
		return nil, err
	}
	endpoints := make(map[string]provider.Endpoint, len(user.Providers))
	for id, p := range user.Providers {
		endpoints[id] = provider.Endpoint{BaseURL: p.BaseURL, Headers: p.Headers}
	}
	limiter, err := ratelimit.New(callBounds(user))
	if err != nil {
		return nil, err
	}
	return &provider.Opener{Config: provider.Config{
		Catalog: sync.OnceValues(openCatalog),
		Key: func(p catalog.Provider) (string, error) {
			key, _, err := keys.Key(authProvider(p))
			return key.Reveal(), err
		},
		Endpoints: endpoints,
		Fallback:  user.Fallback,
		RateLimit: limiter,
		SmallRef:  user.SmallModel,
	}}, nil
}

// callBounds are the limits that the user has set for calls at once, by provider.
func callBounds(user config.User) map[string]ratelimit.Bounds {
	bounds := map[string]ratelimit.Bounds{}
	for id, p := range user.Providers {
		if c := p.Calls; c != nil {
			bounds[id] = ratelimit.Bounds{Calls: c.Max, Models: c.Models, Wait: time.Duration(c.Wait) * time.Second}
		}
	}
	return bounds
}

// usualModel is the model of those who name none; "" if the user has chosen none.
func usualModel() (string, error) {
	user, err := loadUser()
	return cmp.Or(os.Getenv("PAWL_MODEL"), user.Model), err
}

// foundKey is a key that was found, and what may be told of it.
type foundKey struct {
	Provider string `json:"provider"`
	Origin   string `json:"origin"`
	Length   int    `json:"length"`
}

// findKeys returns the keys of those providers that have one.
func findKeys(keys *auth.Keys, providers []catalog.Provider) ([]foundKey, error) {
	found := []foundKey{}
	for _, p := range providers {
		key, origin, err := keys.Key(authProvider(p))
		if errors.Is(err, auth.ErrNoKey) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, foundKey{p.ID, origin, len(key)})
	}
	return found, nil
}

// modelHelp is the screen for people who have not chosen a model.
func modelHelp(ctx context.Context) (string, error) {
	c, keys, err := catalogAndKeys()
	if err != nil {
		return "", err
	}
	found, err := findKeys(keys, c.Providers)
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

// knownModel says what is wrong with a model's name, if it is no script's.
func knownModel(ref string) error {
	if ref == "" || strings.HasPrefix(ref, "script:") {
		return nil
	}
	c, err := openCatalog()
	if err != nil {
		return err
	}
	_, err = c.Lookup(ref)
	return err
}

// openCatalog returns the catalog with the user's models.json.
func openCatalog() (*catalog.Catalog, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	return catalog.Open(filepath.Join(data, "models.json"))
}

func catalogAndKeys() (*catalog.Catalog, *auth.Keys, error) {
	c, err := openCatalog()
	if err != nil {
		return nil, nil, err
	}
	keys, err := openKeys()
	return c, keys, err
}

// authProvider is what auth must know of a provider.
func authProvider(p catalog.Provider) auth.Provider {
	return auth.Provider{ID: p.ID, EnvKeys: p.EnvKeys}
}
