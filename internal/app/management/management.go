// Package management implements manage.Service on this machine, with the functions that the
// commands use.
package management

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/manage"
)

// Manager manages the configuration of the user who runs the process.
type Manager struct {
	Usable func(config.User) error // whether Pawl would start with a configuration
	MCP    *app.MCPServers         // of the sessions; nil means none
}

var _ manage.Service = (*Manager)(nil)

// Config returns the effective settings.
func (m *Manager) Config(ctx context.Context, dir string) (c manage.Config, err error) {
	c = manage.Config{Settings: []manage.Setting{}, Problems: []string{}}
	if c.File, err = config.UserFile(); err != nil {
		return c, err
	}
	if c.Hash, err = config.UserHash(); err != nil {
		return c, err
	}
	list, err := Settings(ctx, dir)
	for _, s := range list {
		c.Settings = append(c.Settings, manage.Setting{Key: s.Key, Value: masked(s.Value), Layer: string(s.Layer), Source: s.Source})
	}
	if err != nil {
		c.Problems = append(c.Problems, app.Secrets.Redact(fault.Text(err)))
	}
	return c, nil
}

// masked masks registered secrets in a value.
func masked(value json.RawMessage) json.RawMessage {
	text := app.Secrets.Redact(string(value))
	if !json.Valid([]byte(text)) {
		return json.RawMessage(`"***"`)
	}
	return json.RawMessage(text)
}

// Providers returns the providers, and which of them have a key.
func (m *Manager) Providers(context.Context) ([]manage.Provider, error) {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return nil, err
	}
	list := []manage.Provider{}
	for _, p := range append(slices.Clone(c.Providers), app.SearchProviders()...) {
		list = append(list, describe(c, keys, p))
	}
	return list, nil
}

// describe describes a provider, and where its key comes from.
func describe(c *catalog.Catalog, keys *auth.Keys, p catalog.Provider) manage.Provider {
	out := manage.Provider{ID: p.ID, Name: p.Name, Protocol: string(p.Protocol)}
	for _, model := range c.Models {
		if model.Provider == p.ID {
			out.Models++
		}
	}
	_, origin, err := keys.Key(app.AuthProvider(p))
	switch {
	case err == nil:
		out.Key, out.Source = keyOrigin(origin)
	case !errors.Is(err, auth.ErrNoKey):
		out.Problem = app.Secrets.Redact(fault.Text(err))
	}
	return out
}

// keyOrigin returns the kind of a key's origin, and the variable or file.
func keyOrigin(origin string) (kind, source string) {
	switch origin {
	case auth.OriginKeyring:
		return manage.KeyKeyring, ""
	case auth.OriginFile:
		return manage.KeyFile, origin
	default:
		return manage.KeyEnvironment, origin
	}
}

// Permissions returns the permission mode, rules and saved answers for a directory.
func (m *Manager) Permissions(ctx context.Context, dir string) (manage.Permissions, error) {
	p, err := app.PolicyOf(ctx, dir, "")
	if err != nil {
		return manage.Permissions{}, err
	}
	out := manage.Permissions{Mode: string(p.Mode), Rules: []manage.Rule{}, Answers: []manage.SavedAnswer{}}
	for _, r := range p.Rules {
		if r.Origin != permission.OriginPawl {
			out.Rules = append(out.Rules, ruleOf(r))
		}
	}
	for _, g := range p.Grants {
		out.Answers = append(out.Answers, manage.SavedAnswer{
			ID: g.ID(), Rule: ruleOf(g.Rule), Scope: string(g.Scope), Dir: g.Dir, Session: string(g.Session), At: g.At,
		})
	}
	return out, nil
}

func ruleOf(r permission.Rule) manage.Rule {
	return manage.Rule{
		Tool: r.Tool, Kind: string(r.Kind), Pattern: app.Secrets.Redact(r.Pattern), Decision: string(r.Decision),
		Match: r.Match, NotMatch: r.NotMatch, Origin: string(r.Origin),
	}
}

// Extensions returns the extensions of a directory.
func (m *Manager) Extensions(ctx context.Context, dir string) (manage.Extensions, error) {
	v, err := inventory.Take(ctx, dir)
	if err != nil {
		return manage.Extensions{}, err
	}
	v = v.WithoutInternal()
	out := manage.Extensions{Extensions: []manage.Extension{}, Problems: []manage.ExtensionProblem{}}
	var servers []pawl.ServerInfo
	if m.MCP != nil {
		servers, _ = m.MCP.States(ctx, dir)
	}
	for _, i := range v.Items {
		out.Extensions = append(out.Extensions, extension(i, servers))
	}
	for _, f := range v.Faults {
		out.Problems = append(out.Problems, manage.ExtensionProblem{Kind: f.Kind, Text: app.Secrets.Redact(f.Text)})
	}
	return out, nil
}

func extension(i inventory.Item, servers []pawl.ServerInfo) manage.Extension {
	e := manage.Extension{
		Kind: i.Kind, Name: app.Secrets.Redact(i.Name), Origin: i.Source, File: i.File, Active: i.Active, Reason: i.Reason, By: i.By,
		Description: i.Description, Warnings: i.Warnings,
	}
	if i.Hook != nil {
		for _, p := range i.Hook.Points {
			e.Points = append(e.Points, string(p))
		}
		e.Command = app.Secrets.Redact(inventory.HookLine(i.Hook.Command, i.Hook.Args))
	}
	if i.Kind != inventory.MCP {
		return e
	}
	if n := slices.IndexFunc(servers, func(s pawl.ServerInfo) bool { return s.Name == i.Name && s.Origin == i.Source }); n >= 0 {
		e.State, e.Why, e.Tools = servers[n].State, servers[n].Why, servers[n].Tools
	}
	return e
}

// SetValue sets or removes a value in the user's configuration file.
func (m *Manager) SetValue(_ context.Context, key string, value json.RawMessage, hash string) (string, error) {
	if err := requireHash(hash); err != nil {
		return "", err
	}
	if string(value) == "null" {
		return newHash(config.UnsetIf(hash, key, m.Usable))
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		text = string(value) // not a string
	}
	return newHash(config.SetIf(hash, key, text, m.Usable))
}

// requireHash returns an error for a change that does not say which file it is for.
func requireHash(hash string) error {
	if hash == "" {
		return fault.New(pawl.ErrInvalid, "the hash of the configuration file is missing")
	}
	return nil
}

// newHash returns the hash of the user's file after a change.
func newHash(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return config.UserHash()
}

// SetKey saves a provider's API key.
func (m *Manager) SetKey(_ context.Context, provider, key string) (manage.Provider, error) {
	return withProvider(provider, func(p catalog.Provider, keys *auth.Keys) error {
		secret, err := auth.Parse(key)
		if err != nil {
			return fault.New(pawl.ErrInvalid, "the key is invalid: %w", err)
		}
		app.Secrets.Add(p.ID, secret.Reveal())
		_, err = keys.Save(p.ID, secret)
		return err
	})
}

// DeleteKey deletes a provider's saved API key.
func (m *Manager) DeleteKey(_ context.Context, provider string) (manage.Provider, error) {
	return withProvider(provider, func(p catalog.Provider, keys *auth.Keys) error {
		_, err := keys.Delete(p.ID)
		if errors.Is(err, auth.ErrNoKey) {
			return fault.New(pawl.ErrNotFound, "no key of %s is saved", p.ID)
		}
		return err
	})
}

// withProvider calls do with a provider, and describes it afterwards.
func withProvider(id string, do func(p catalog.Provider, keys *auth.Keys) error) (manage.Provider, error) {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return manage.Provider{}, err
	}
	p, err := app.KeyProvider(c, id)
	if err == nil {
		err = do(p, keys)
	}
	if err != nil {
		return manage.Provider{}, err
	}
	return describe(c, keys, p), nil
}

// TestKey tests a provider's API key.
func (m *Manager) TestKey(ctx context.Context, provider string) (t manage.KeyTest, err error) {
	_, err = withProvider(provider, func(p catalog.Provider, keys *auth.Keys) error {
		o, origin, err := app.TestKey(ctx, p, keys, "")
		if errors.Is(err, auth.ErrNoKey) {
			return fault.New(pawl.ErrNotFound, "no API key for %s", p.ID)
		}
		t = manage.KeyTest{Works: o.Verdict == auth.Works, Verdict: string(o.Verdict), Detail: o.Detail}
		t.Key, _ = keyOrigin(origin)
		return err
	})
	return t, err
}

// EnableServer enables or disables an MCP server of the user.
func (m *Manager) EnableServer(_ context.Context, name string, enabled bool, hash string) (string, error) {
	s, err := userServer(name, hash)
	switch {
	case err != nil:
		return "", err
	case s.Disabled == !enabled:
		return config.UserHash()
	case enabled:
		return newHash(config.UnsetIf(hash, serverKey(name)+"/disabled", m.Usable))
	default:
		return newHash(config.SetIf(hash, serverKey(name)+"/disabled", "true", m.Usable))
	}
}

// RemoveServer removes an MCP server of the user, and its login.
func (m *Manager) RemoveServer(ctx context.Context, name, hash string) (string, error) {
	if _, err := userServer(name, hash); err != nil {
		return "", err
	}
	forget, err := m.login(ctx, name)
	if err != nil {
		return "", err
	}
	if err := config.UnsetIf(hash, serverKey(name), m.Usable); err != nil {
		return "", err
	}
	return newHash(forget())
}

// login returns a function that deletes the login of a server, which cannot be found once the server is removed.
func (m *Manager) login(ctx context.Context, name string) (forget func() error, err error) {
	none := func() error { return nil }
	if m.MCP == nil {
		return none, nil
	}
	guard, err := policy.Open()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	entries, _, err := app.MCPServersOf(ctx, guard, home, false)
	i := slices.IndexFunc(entries, func(e app.MCPServer) bool { return e.Name == name && !e.Project })
	if err != nil || i < 0 {
		return none, err // one that cannot be used has no login
	}
	in, err := m.MCP.LoggedIn(entries[i].Server)
	if err != nil || !in {
		return none, err
	}
	return func() error { return m.MCP.Logout(entries[i].Server) }, nil
}

func serverKey(name string) string { return "/mcp/" + name }

// userServer returns an MCP server of the user's configuration.
func userServer(name, hash string) (config.Server, error) {
	if err := requireHash(hash); err != nil {
		return config.Server{}, err
	}
	text, err := config.UserText()
	if err != nil {
		return config.Server{}, err
	}
	all, err := config.ServersIn(text, "mcp")
	if err != nil {
		return config.Server{}, fault.New(pawl.ErrInvalid, "read the configuration file: %w", err)
	}
	s, ok := all[name]
	if !ok || strings.Contains(name, "/") {
		return s, fault.New(pawl.ErrNotFound, "MCP server %.40q not found in your configuration", name)
	}
	return s, nil
}

// AddRule adds a permission rule to the user's configuration.
func (m *Manager) AddRule(_ context.Context, r manage.Rule, hash string) (string, error) {
	return m.changeRules(hash, func(rules []json.RawMessage) ([]json.RawMessage, error) {
		if slices.ContainsFunc(rules, same(r)) {
			return nil, fault.New(pawl.ErrConflict, "the rule already exists")
		}
		r.Origin = ""
		text, err := json.Marshal(r)
		return append(rules, text), err
	})
}

// RemoveRule removes a permission rule from the user's configuration.
func (m *Manager) RemoveRule(_ context.Context, r manage.Rule, hash string) (string, error) {
	return m.changeRules(hash, func(rules []json.RawMessage) ([]json.RawMessage, error) {
		i := slices.IndexFunc(rules, same(r))
		if i < 0 {
			return nil, fault.New(pawl.ErrNotFound, "the rule is not in your configuration")
		}
		return slices.Delete(rules, i, i+1), nil
	})
}

// same returns a function that reports whether a rule of a file is r.
func same(r manage.Rule) func(json.RawMessage) bool {
	r.Origin = string(permission.OriginUser)
	return func(raw json.RawMessage) bool {
		parsed, err := permission.ParseRules(json.RawMessage("["+string(raw)+"]"), permission.OriginUser)
		return err == nil && len(parsed) == 1 && reflect.DeepEqual(ruleOf(parsed[0]), r)
	}
}

// changeRules changes the permission rules of the user's configuration.
func (m *Manager) changeRules(hash string, change func([]json.RawMessage) ([]json.RawMessage, error)) (string, error) {
	if err := requireHash(hash); err != nil {
		return "", err
	}
	user, err := config.LoadUser()
	if err != nil {
		return "", err
	}
	var rules []json.RawMessage
	if user.Permissions.Rules != nil {
		if err := json.Unmarshal(user.Permissions.Rules, &rules); err != nil {
			return "", fault.New(pawl.ErrInvalid, "permissions.rules must be a list of rules")
		}
	}
	if rules, err = change(rules); err != nil {
		return "", err
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return "", err
	}
	return newHash(config.SetIf(hash, "permissions.rules", string(text), m.Usable))
}

// RevokeAnswer revokes a saved answer.
func (m *Manager) RevokeAnswer(_ context.Context, id string) error {
	s, err := policy.Open()
	if err != nil {
		return err
	}
	return s.Grants().Revoke(id)
}
