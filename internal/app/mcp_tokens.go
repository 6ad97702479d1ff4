package app

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
)

var (
	_ mcpclient.TokenStore = keyringTokens{}
	_ mcpclient.TokenStore = maskedTokens{}
)

// MCPTokens returns the store for credentials of MCP servers: the system's keyring or, if it is not
// available, keys.json. Credentials that are read or stored are registered as secrets.
func MCPTokens(keys *auth.Keys) mcpclient.TokenStore { return maskedTokens{keyringTokens{keys}} }

// keyringTokens stores credentials like API keys: in the system's keyring or in keys.json.
type keyringTokens struct{ keys *auth.Keys }

// Get returns the credentials of a login.
func (k keyringTokens) Get(name string) (auth.Secret, error) {
	token, _, err := k.keys.Key(auth.Provider{ID: name})
	return token, err
}

// Set stores the credentials of a login.
func (k keyringTokens) Set(name string, token auth.Secret) error {
	_, err := k.keys.Save(name, token)
	return err
}

// Delete deletes the credentials of a login from the keyring and from keys.json.
func (k keyringTokens) Delete(name string) error {
	_, err := k.keys.Delete(name)
	return err
}

// maskedTokens registers the credentials that are read or stored as secrets.
type maskedTokens struct{ mcpclient.TokenStore }

// Get returns the credentials of a login.
func (h maskedTokens) Get(name string) (auth.Secret, error) {
	text, err := h.TokenStore.Get(name)
	registerLogin(text)
	return text, err
}

// Set stores the credentials of a login and registers them as secrets.
func (h maskedTokens) Set(name string, text auth.Secret) error {
	registerLogin(text)
	return h.TokenStore.Set(name, text)
}

// registerLogin registers the tokens of a login as secrets.
func registerLogin(text auth.Secret) {
	var login map[string]any
	if json.Unmarshal([]byte(text.Reveal()), &login) != nil {
		return // not a login
	}
	for _, key := range []string{"access_token", "refresh_token", "client_secret"} {
		if value, ok := login[key].(string); ok {
			Secrets.Add("MCP login", value)
		}
	}
}
