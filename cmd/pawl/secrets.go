package main

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/security/redact"
)

// secrets masks the keys that this process holds, wherever it writes to. It
// learns of a key before anybody can use it.
var secrets = &redact.Redactor{}

// loadUser returns the user's configuration. What it has from variables and files
// is a secret from then on.
func loadUser() (config.User, error) {
	user, err := config.LoadUser()
	for key, values := range user.Replaced {
		for _, value := range values {
			secrets.Add(key, value)
		}
	}
	return user, err
}

// holdSecrets makes known what the user has given pawl: kept keys, headers, the
// store's password. A key of the system's keyring is known once it is asked for,
// one of the environment from the start.
func holdSecrets(store string) error {
	secrets.AddURL("store", store)
	user, err := loadUser()
	if err != nil {
		return err
	}
	for id, p := range user.Providers {
		secrets.AddHeaders(id, p.Headers)
		secrets.AddURL(id, p.BaseURL)
	}
	keys, err := openKeys()
	if err != nil {
		return err
	}
	kept, err := keys.Kept()
	for id, key := range kept {
		holdKey(id, key)
	}
	return err
}

func holdKey(provider string, key auth.Secret) { secrets.Add(provider+" key", key.Reveal()) }

// openKeys returns where the keys are.
func openKeys() (*auth.Keys, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	return &auth.Keys{Ring: auth.SystemKeyring(), File: filepath.Join(data, "keys.json"), Found: holdKey}, nil
}
