package main

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
)

var (
	_ mcpclient.TokenStore = keptTokens{}
	_ mcpclient.TokenStore = heldTokens{}
)

// keptTokens keeps logins where keys are kept: in the system's keyring, or where
// there is none in keys.json.
type keptTokens struct{ keys *auth.Keys }

// Get returns what a login has brought.
func (k keptTokens) Get(name string) (auth.Secret, error) {
	token, _, err := k.keys.Key(auth.Provider{ID: name})
	return token, err
}

// Set keeps what a login has brought.
func (k keptTokens) Set(name string, token auth.Secret) error {
	_, err := k.keys.Save(name, token)
	return err
}

// Delete forgets it, wherever it is.
func (k keptTokens) Delete(name string) error {
	_, err := k.keys.Delete(name)
	return err
}

// heldTokens is where logins are kept. What it gives out, and what is kept in it,
// is a secret from then on.
type heldTokens struct{ mcpclient.TokenStore }

// Get returns the credentials of a login.
func (h heldTokens) Get(name string) (auth.Secret, error) {
	text, err := h.TokenStore.Get(name)
	holdLogin(text)
	return text, err
}

// Set keeps the credentials of a login.
func (h heldTokens) Set(name string, text auth.Secret) error {
	holdLogin(text)
	return h.TokenStore.Set(name, text)
}

// holdLogin masks the secrets of a login.
func holdLogin(text auth.Secret) {
	var login map[string]any
	if json.Unmarshal([]byte(text.Reveal()), &login) != nil {
		return // it is not one
	}
	for _, key := range []string{"access_token", "refresh_token", "client_secret"} {
		if value, ok := login[key].(string); ok {
			secrets.Add("MCP login", value)
		}
	}
}
