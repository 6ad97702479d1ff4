package app

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/security/redact"
)

// Secrets masks the keys that this process holds, wherever it writes to. It
// learns of a key before anybody can use it.
var Secrets = &redact.Redactor{}

// LoadUser returns the user's configuration. What it has from variables and files
// is a secret from then on.
func LoadUser() (config.User, error) {
	user, err := config.LoadUser()
	for key, values := range user.Replaced {
		for _, value := range values {
			Secrets.Add(key, value)
		}
	}
	return user, err
}

// RegisterSecrets makes known what the user has given pawl: kept keys, headers, the
// store's password. A key of the system's keyring is known once it is asked for,
// one of the environment from the start.
func RegisterSecrets(store string) error {
	Secrets.AddURL("store", store)
	user, err := LoadUser()
	if err != nil {
		return err
	}
	for id, p := range user.Providers {
		Secrets.AddHeaders(id, p.Headers)
		Secrets.AddURL(id, p.BaseURL)
	}
	keys, err := OpenKeys()
	if err != nil {
		return err
	}
	kept, err := keys.Kept()
	for id, key := range kept {
		registerKey(id, key)
	}
	return err
}

func registerKey(provider string, key auth.Secret) { Secrets.Add(provider+" key", key.Reveal()) }

// OpenKeys returns where the keys are.
func OpenKeys() (*auth.Keys, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	return &auth.Keys{Ring: auth.SystemKeyring(), File: filepath.Join(data, "keys.json"), Found: registerKey}, nil
}
