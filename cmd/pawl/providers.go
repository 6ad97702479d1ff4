package main

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
)

// newModels returns what opens models, by the user's configuration and keys.
// The catalog and the keys are read when a provider's model is opened.
func newModels() (*model.Opener, error) {
	user, err := loadUser()
	if err != nil {
		return nil, err
	}
	keys, err := openKeys()
	if err != nil {
		return nil, err
	}
	endpoints := make(map[string]model.Endpoint, len(user.Providers))
	for id, p := range user.Providers {
		endpoints[id] = model.Endpoint{BaseURL: p.BaseURL, Headers: p.Headers}
	}
	limiter, err := ratelimit.New(callBounds(user))
	if err != nil {
		return nil, err
	}
	return &model.Opener{Config: model.Config{
		Catalog: sync.OnceValues(openCatalog),
		Key: func(p catalog.Provider) (string, error) {
			key, _, err := keys.Key(authProvider(p))
			return key.Reveal(), err
		},
		Endpoints: endpoints,
		Fallback:  user.Fallback,
		Slots:     limiter,
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
