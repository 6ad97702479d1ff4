package app

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/security/redact"
)

// Secrets masks the secrets of this process in everything that it writes. Secrets must be
// registered before they are used.
var Secrets = &redact.Redactor{}

// LoadUser returns the user's configuration. It registers the values that replace {env:…} and
// {file:…} placeholders as secrets.
func LoadUser() (config.User, error) {
	user, err := config.LoadUser()
	for key, values := range user.Replaced {
		for _, value := range values {
			Secrets.Add(key, value)
		}
	}
	return user, err
}

// RegisterSecrets registers the secrets of the user: API keys in keys.json, configured headers, and
// passwords in the URLs of the store and of providers. Keys in the system's keyring are registered
// when they are read.
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
		RegisterKey(id, key)
	}
	return err
}

// RegisterKey registers the key of a provider as a secret.
func RegisterKey(provider string, key auth.Secret) { Secrets.Add(provider+" key", key.Reveal()) }

// OpenKeys returns the API keys of the user.
func OpenKeys() (*auth.Keys, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	return &auth.Keys{Ring: auth.SystemKeyring(), File: filepath.Join(data, "keys.json"), Found: RegisterKey}, nil
}
