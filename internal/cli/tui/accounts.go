package tui

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// testTime bounds the test of a key.
const testTime = 20 * time.Second

// firstKeys is how many providers without a key are listed before the other sources.
const firstKeys = 4

// accounts implements onboarding.Accounts with the user's configuration and API keys.
type accounts struct {
	changed func() // called after a key or a URL has changed; may be nil
}

var _ onboarding.Accounts = accounts{}

// Sources returns the providers whose key was found, the local models, and all other ways.
func (accounts) Sources(ctx context.Context) ([]onboarding.Source, error) {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return nil, err
	}
	where := keys.Destination()
	var sources []onboarding.Source
	asks := 0
	for _, p := range c.Providers {
		s, ok, err := keySource(c, keys, p)
		if err != nil {
			return nil, err
		}
		if s.Location = where; !ok {
			continue
		}
		if s.Kind == onboarding.Key {
			if asks++; asks > firstKeys {
				s.Kind = onboarding.More
			}
		}
		sources = append(sources, s)
	}
	for _, served := range catalog.Local(ctx, c.Locals()...) {
		for _, m := range served.Models {
			sources = append(sources, onboarding.Source{Kind: onboarding.Ready, Provider: served.Provider.ID, Name: m.Ref, Detail: "running: " + served.Provider.Name, Model: m.Ref})
		}
	}
	return append(sources,
		onboarding.Source{Kind: onboarding.Server, Provider: catalog.Custom, Name: "OpenAI-compatible server", Detail: "by its URL", Location: where},
		onboarding.Source{Kind: onboarding.Demo, Name: "Demo", Detail: "scripted, no network or key needed", Model: script.DemoRef},
	), nil
}

// keySource returns a provider with its key, or as one that needs a key. It reports whether the provider takes
// an API key that can be tested.
func keySource(c *catalog.Catalog, keys *auth.Keys, p catalog.Provider) (onboarding.Source, bool, error) {
	start, known := c.Default(p.ID)
	if p.Local || !known || len(p.EnvKeys) == 0 || p.BaseURL == "" {
		return onboarding.Source{}, false, nil
	}
	s := onboarding.Source{Kind: onboarding.Key, Provider: p.ID, Name: p.Name, Model: start.Ref}
	_, origin, err := keys.Key(app.AuthProvider(p))
	switch {
	case err == nil:
		s.Kind, s.Detail = onboarding.Ready, "key found: "+origin
	case !errors.Is(err, auth.ErrNoKey):
		return s, false, err
	}
	return s, true, nil
}

// Connect tests a source and stores its key and URL.
func (a accounts) Connect(ctx context.Context, l onboarding.Login) (onboarding.Connected, error) {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	switch {
	case l.Kind == onboarding.Demo:
		return onboarding.Connected{Models: []string{script.DemoRef}}, nil
	case l.Kind == onboarding.Server:
		return a.connectServer(ctx, l)
	case l.Kind == onboarding.Key, l.Kind == onboarding.More:
		return a.connectKey(ctx, l)
	case !l.Untested:
		if err := a.test(ctx, l.Provider, l.Model, nil); err != nil {
			return onboarding.Connected{}, err
		}
	}
	return onboarding.Connected{Models: []string{l.Model}, Keep: true}, nil
}

// connectKey tests the key of a provider and stores it.
func (a accounts) connectKey(ctx context.Context, l onboarding.Login) (onboarding.Connected, error) {
	key, err := auth.Parse(string(l.APIKey))
	if err != nil {
		return onboarding.Connected{}, err
	}
	app.RegisterKey(l.Provider, key)
	if !l.Untested {
		if err := a.test(ctx, l.Provider, l.Model, &key); err != nil {
			return onboarding.Connected{}, err
		}
	}
	note, err := a.store(l.Provider, key)
	return onboarding.Connected{Models: []string{l.Model}, Note: note, Keep: true}, err
}

// store saves a key and returns a text that says where.
func (a accounts) store(id string, key auth.Secret) (string, error) {
	keys, err := app.OpenKeys()
	if err != nil {
		return "", err
	}
	saved, err := keys.Save(id, key)
	if err != nil {
		return "", err
	}
	a.notify()
	where := "the keyring"
	if saved.Origin == auth.OriginFile {
		where = keys.File
	}
	return "Saved the key in " + where, nil
}

func (a accounts) notify() {
	if a.changed != nil {
		a.changed()
	}
}

// test sends one small request to the small model of a provider, or to ref. It uses key, or the stored one if
// key is nil.
func (accounts) test(ctx context.Context, id, ref string, key *auth.Secret) error {
	models, err := app.NewModels()
	if err != nil {
		return err
	}
	if key != nil {
		models.Key = func(catalog.Provider) (string, error) { return key.Reveal(), nil }
	}
	known, err := models.Catalog()
	if err != nil {
		return err
	}
	p, err := known.Provider(id)
	if err != nil {
		return err
	}
	if small, ok := known.Small(id); ok {
		ref = small.Ref
	}
	return explain(p, models.Probe(ctx, ref))
}

// noCredit matches what providers say if an account has no credit.
var noCredit = regexp.MustCompile(`(?i)credit|quota|billing|balance|payment|insufficient`)

// explain says why a test failed and what to do. A provider that limits requests has accepted the key.
func explain(p catalog.Provider, err error) error {
	var e *model.ProviderError
	if err == nil || !errors.As(err, &e) {
		return err
	}
	said := app.Secrets.Redact(e.Message)
	switch {
	case e.Status == 402 || noCredit.MatchString(e.Message):
		return fault.New(pawl.ErrUnavailable, "%s accepted the key, but the account has no credit: %s", p.Name, said).Hint("Add credit to the account, then try again.")
	case e.Kind == pawl.ErrorAuth:
		return fault.New(pawl.ErrDenied, "%s rejected the key (HTTP %d)", p.Name, e.Status).Hint("Check that you copied all of it, or create a new one.")
	case e.Kind == pawl.ErrorConnection, e.Kind == pawl.ErrorIdle:
		return fault.New(pawl.ErrUnavailable, "cannot reach %s at %s: %s", p.Name, host(p.BaseURL), said).Hint("Check your network connection and proxy.")
	case e.Kind == pawl.ErrorRateLimited, e.Kind == pawl.ErrorEmpty, e.Kind == pawl.ErrorRefused:
		return nil
	}
	return fault.New(pawl.ErrUnavailable, "the test of %s failed: %s", p.Name, said).Hint("Try again in a moment.")
}

// host returns the host of a URL, or the URL if it has none.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// connectServer lists the models of a server by its URL, and stores the URL and the key.
func (a accounts) connectServer(ctx context.Context, l onboarding.Login) (onboarding.Connected, error) {
	base := strings.TrimRight(l.URL, "/")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return onboarding.Connected{}, fault.New(pawl.ErrInvalid, "invalid URL").Hint("Use a URL such as https://llm.example.org/v1.")
	}
	key := auth.Secret("")
	if l.APIKey != "" {
		var err error
		if key, err = auth.Parse(string(l.APIKey)); err != nil {
			return onboarding.Connected{}, err
		}
		app.RegisterKey(catalog.Custom, key)
	}
	models, err := catalog.List(ctx, catalog.Provider{ID: catalog.Custom, BaseURL: base}, key.Reveal())
	if err != nil {
		return onboarding.Connected{}, explainServer(base, key != "", err)
	}
	if len(models) == 0 {
		return onboarding.Connected{}, fault.New(pawl.ErrNotFound, "%s has no models", host(base)).Hint("Load one in the server, then try again.")
	}
	result := onboarding.Connected{Keep: true}
	for _, m := range models {
		result.Models = append(result.Models, m.Ref)
	}
	if err := config.Set("providers."+catalog.Custom+".base_url", base, configcmd.Usable); err != nil {
		return result, err
	}
	if key == "" {
		a.notify()
		return result, nil
	}
	result.Note, err = a.store(catalog.Custom, key)
	return result, err
}

// explainServer says why the models of a server are unknown and what to do.
func explainServer(base string, keyed bool, err error) error {
	var status *catalog.StatusError
	switch {
	case errors.As(err, &status) && (status.Code == 401 || status.Code == 403) && !keyed:
		return onboarding.ErrNeedsKey
	case errors.As(err, &status) && (status.Code == 401 || status.Code == 403):
		return fault.New(pawl.ErrDenied, "%s rejected the key (HTTP %d)", host(base), status.Code).Hint("Check that you copied all of it, or create a new one.")
	case errors.As(err, &status):
		return fault.New(pawl.ErrUnavailable, "%s has no list of models at %s/models (HTTP %d)", host(base), base, status.Code).Hint("Check the URL; most end with /v1.")
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return fault.New(pawl.ErrUnavailable, "cannot reach %s: %w", host(base), wrapped.Err).Hint("Check the URL, your network connection and proxy.")
	}
	return fault.New(pawl.ErrUnavailable, "%s does not answer as an OpenAI-compatible server: %w", host(base), err).Hint("Check the URL; most end with /v1.")
}

// Stored returns the providers whose keys are in the keyring or in keys.json.
func (accounts) Stored(context.Context) ([]onboarding.Source, error) {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return nil, err
	}
	keys.Getenv = func(string) string { return "" }
	found, err := app.FindKeys(keys, c.Providers)
	var sources []onboarding.Source
	for _, k := range found {
		p, err := c.Provider(k.Provider)
		if err != nil {
			return nil, err
		}
		sources = append(sources, onboarding.Source{Provider: p.ID, Name: p.Name, Detail: k.Origin})
	}
	return sources, err
}

// Logout deletes the stored key of a provider.
func (a accounts) Logout(_ context.Context, id string) (string, error) {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return "", err
	}
	p, err := c.Provider(id)
	if err != nil {
		return "", err
	}
	origins, err := keys.Delete(p.ID)
	if err != nil {
		return "", err
	}
	a.notify()
	text := fmt.Sprintf("Deleted the %s key from %s", p.Name, strings.Join(origins, " and "))
	if _, origin, err := keys.Key(app.AuthProvider(p)); err == nil {
		text += fmt.Sprintf("; %s is still set and provides a key", origin)
	}
	return text, nil
}

// saveModel makes a model the user's default, unless one is configured.
func saveModel(ref string) (bool, error) {
	user, err := app.LoadUser()
	if err != nil || user.Model != "" {
		return false, err
	}
	return true, config.Set("model", ref, configcmd.Usable)
}
