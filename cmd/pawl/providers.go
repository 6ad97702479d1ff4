package main

import (
	"sync"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
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
		endpoints[id] = model.Endpoint(p)
	}
	return &model.Opener{Config: model.Config{
		Catalog: sync.OnceValues(openCatalog),
		Key: func(p catalog.Provider) (string, error) {
			key, _, err := keys.Key(authProvider(p))
			return key.Reveal(), err
		},
		Endpoints: endpoints,
		Fallback:  user.Fallback,
		SmallRef:  user.SmallModel,
	}}, nil
}
