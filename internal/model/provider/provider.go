// Package provider opens models by reference, such as anthropic/claude-sonnet-4-5. It combines the clients of
// the wire protocols with retries, fallbacks, rate limits and costs.
package provider

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// Config holds what is needed to reach providers.
type Config struct {
	Catalog   func() (*catalog.Catalog, error)         // called when a model of a provider is opened
	Key       func(p catalog.Provider) (string, error) // returns the API key of a provider
	Endpoints map[string]Endpoint                      // by provider; overrides the catalog
	Fallback  []string                                 // models to fall back to when the requested one stays unavailable
	RateLimit *ratelimit.Limiter                       // limits concurrent calls; nil means no limit
	SmallRef  *string                                  // the user's choice of a small model; nil means unset, see Opener.Small
}

// Endpoint holds the user's settings for reaching a provider.
type Endpoint struct {
	BaseURL string            `json:"base_url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Opener opens models and caches them. It is safe for concurrent use; the zero value opens scripts only.
type Opener struct {
	Config
	mu      sync.Mutex
	open    map[string]model.Model
	skipped *warning // about fallback models without a key; nil if all have one
}

// scripted is the provider of scripts. Their calls are only limited if the user sets a limit.
const scripted = "script"

// Open returns the model of ref: script:FILE, demo, or a model of the catalog (anthropic/claude-sonnet-4-5,
// sonnet, …).
func (o *Opener) Open(ref string) (model.Model, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m, ok := o.open[ref]; ok {
		return m, nil
	}
	m, err := o.new(ref)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[string]model.Model{}
	}
	o.open[ref] = m
	return m, nil
}

// Forget makes Open create its models again, after the user has changed keys or endpoints.
func (o *Opener) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.open)
}

func (o *Opener) new(ref string) (model.Model, error) {
	if ref == script.DemoRef {
		return script.Demo()
	}
	if path, ok := strings.CutPrefix(ref, "script:"); ok {
		m, err := script.Open(path)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%w", err)
		}
		if o.RateLimit != nil && o.RateLimit.Bounded(scripted) {
			return o.RateLimit.Model(scripted, path, m), nil
		}
		return m, nil
	}
	switch {
	case ref == "":
		return nil, fault.New(pawl.ErrInvalid, "no model configured").Hint("Run `pawl auth login anthropic` and `pawl config set model sonnet`, or choose another one of `pawl models`.")
	case o.Catalog == nil:
		return nil, fault.New(pawl.ErrInvalid, "unknown model %q", ref).Hint("Run `pawl models` to see all models.")
	}
	known, err := o.Catalog()
	if err != nil {
		return nil, err
	}
	m, err := o.client(known, ref)
	if err != nil {
		return nil, err
	}
	return o.withFallback(known, retrying{models: []named{{ref, m}}})
}

// withFallback adds the models to fall back to. Those whose provider has no key are left out, with a warning.
func (o *Opener) withFallback(known *catalog.Catalog, p retrying) (model.Model, error) {
	var skipped []string
	for _, name := range o.Fallback {
		m, err := o.client(known, name)
		var missing *keyError
		switch {
		case errors.As(err, &missing):
			skipped = append(skipped, name)
		case err != nil:
			return nil, fmt.Errorf("fallback model: %w", err)
		default:
			p.models = append(p.models, named{name, m})
		}
	}
	if len(skipped) > 0 && o.skipped == nil {
		o.skipped = &warning{text: fmt.Sprintf("no API key for the fallback %s: skipped", strings.Join(skipped, ", "))}
	}
	p.warning = o.skipped
	return p, nil
}

// script returns the scripted model of ref, without its rate limit.
func (o *Opener) script(ref string) (*script.Model, error) {
	m, err := o.Open(ref)
	if err != nil {
		return nil, err
	}
	if limited, ok := m.(*ratelimit.Model); ok {
		m = limited.Model
	}
	return m.(*script.Model), nil
}

// client creates the client of a model in the catalog.
func (o *Opener) client(known *catalog.Catalog, name string) (model.Model, error) {
	m, err := known.Lookup(name)
	if err != nil {
		return nil, err
	}
	p, err := known.Provider(m.Provider)
	if err != nil {
		return nil, err
	}
	c, err := o.dial(p, m)
	if err != nil {
		return nil, err
	}
	c = supportedEffort{supportedFiles{c, takes(p, m)}, m.Efforts}
	if o.RateLimit != nil {
		c = o.RateLimit.Model(p.ID, strings.TrimPrefix(m.Ref, p.ID+"/"), c)
	}
	return priced{c, p.ID, func(u pawl.Usage) pawl.Money { return catalog.Cost(m, u) }}, nil
}

// endpoint returns the base URL of a provider, and the user's headers for it.
func (o *Opener) endpoint(p catalog.Provider) (base string, header http.Header, err error) {
	own := o.Endpoints[p.ID]
	base = own.BaseURL
	if base == "" && p.BaseURLEnv != "" {
		base = os.Getenv(p.BaseURLEnv)
	}
	if base == "" {
		base = p.BaseURL
	}
	if base == "" {
		err := fault.New(pawl.ErrInvalid, "no base URL configured for %s", p.Name)
		if p.BaseURLEnv != "" {
			return "", nil, err.Hint("Set %s to the URL of your account.", p.BaseURLEnv)
		}
		return "", nil, err.Hint("Set providers.%s.base_url in the configuration.", p.ID)
	}
	header = http.Header{}
	for name, value := range own.Headers {
		header.Set(name, value)
	}
	return strings.TrimRight(base, "/"), header, nil
}
