package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// merge applies a user's file: fields of an entry replace those of the same provider or model, others stay. It
// is strict, so that a mistake is reported and does not silently cost money.
func (c *Catalog) merge(text []byte) error {
	var file struct {
		Providers []json.RawMessage `json:"providers"`
		Models    []json.RawMessage `json:"models"`
	}
	if err := strictjson.Decode(text, &file); err != nil {
		return err
	}
	for i, raw := range file.Providers {
		if err := c.mergeProvider(raw); err != nil {
			return fmt.Errorf("providers, entry %d: %w", i+1, err)
		}
	}
	for i, raw := range file.Models {
		if err := c.mergeModel(raw); err != nil {
			return fmt.Errorf("models, entry %d: %w", i+1, err)
		}
	}
	for _, p := range c.Providers {
		for _, ref := range []string{p.Default, p.Small} {
			if ref != "" && c.model(ref) < 0 {
				return fmt.Errorf("provider %q: model %q does not exist", p.ID, ref)
			}
		}
	}
	return nil
}

func (c *Catalog) mergeProvider(raw json.RawMessage) error {
	var key struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &key); err != nil {
		return err
	}
	p, at := Provider{ID: key.ID, Name: key.ID}, c.provider(key.ID)
	if at >= 0 {
		p = c.Providers[at]
	}
	if err := strictjson.Decode(raw, &p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if at >= 0 {
		c.Providers[at] = p
		return nil
	}
	c.Providers = append(c.Providers, p)
	return nil
}

func (p Provider) check() error {
	switch {
	case p.ID == "" || strings.ContainsAny(p.ID, "/ \t\n"):
		return fmt.Errorf("invalid id %q: use a word without a slash", p.ID)
	case !slices.Contains(protocols, p.Protocol):
		return fmt.Errorf("provider %q: unknown protocol %q: use one of %q", p.ID, p.Protocol, protocols)
	}
	return nil
}

// notGiven marks a price that is missing in the file.
const notGiven Price = -1

func (c *Catalog) mergeModel(raw json.RawMessage) error {
	var key struct {
		Ref string `json:"ref"`
	}
	if err := json.Unmarshal(raw, &key); err != nil {
		return err
	}
	// A new model is assumed to support tools.
	m, at := Model{Tools: true, Prices: Prices{CacheRead: notGiven, CacheWrite: notGiven}}, c.model(key.Ref)
	if at >= 0 {
		m = c.Models[at]
	}
	if err := strictjson.Decode(raw, &m); err != nil {
		return err
	}
	m.complete()
	// Without a price of their own, cached tokens cost as much as others.
	if m.Prices.CacheRead == notGiven {
		m.Prices.CacheRead = m.Prices.Input
	}
	if m.Prices.CacheWrite == notGiven {
		m.Prices.CacheWrite = m.Prices.Input
	}
	if err := c.check(m); err != nil {
		return fmt.Errorf("model %q: %w", m.Ref, err)
	}
	if at >= 0 {
		c.Models[at] = m
		return nil
	}
	c.Models = append(c.Models, m)
	return nil
}

func (c *Catalog) model(ref string) int {
	return slices.IndexFunc(c.Models, func(m Model) bool { return m.Ref == ref })
}

func (c *Catalog) check(m Model) error {
	provider, name, _ := strings.Cut(m.Ref, "/")
	switch {
	case provider == "" || name == "":
		return errors.New("invalid ref: use provider/name")
	case m.Provider != provider:
		return fmt.Errorf("the provider is %q, but the ref says %q", m.Provider, provider)
	case c.provider(provider) < 0:
		return fmt.Errorf("unknown provider %q: add it under providers", provider)
	case m.Context < 0 || m.Output < 0:
		return errors.New("context and output must not be negative")
	case m.Context > 0 && m.Output > m.Context:
		return fmt.Errorf("output (%d) is larger than context (%d)", m.Output, m.Context)
	}
	return nil
}
