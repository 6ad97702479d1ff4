// Package catalog knows the models and their providers: limits, prices, what
// they take, and how they are spoken to. It works offline; the data is in the
// program, and a file of the user's may add to it.
package catalog

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

//go:generate go run -C ../../../dev/catalog . ../../internal/model/catalog/data.json

// embedded is made by dev/catalog from Catwalk's data; see data.LICENSE.
//
//go:embed data.json
var embedded []byte

// Provider is who serves models.
type Provider struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Protocol Protocol `json:"protocol"`
	// BaseURL is what the protocol's paths are added to. For chat and responses it
	// ends with the version (…/v1), for anthropic and gemini it does not, as people
	// know it from the vendors. It is "" where it depends on the account or region.
	BaseURL    string   `json:"base_url"`
	BaseURLEnv string   `json:"base_url_env"` // the variable that holds it, where the account has its own
	EnvKeys    []string `json:"env_keys"`     // the variables that may hold the key, the first that is set wins
	Dialect    string   `json:"dialect"`      // how it differs from its protocol; "" means not at all
	Local      bool     `json:"local"`        // a server on this machine: no key, no fixed models
	Default    string   `json:"default"`      // the ref of a good model to begin with
	Small      string   `json:"small"`        // the ref of a small one, for titles and summaries
}

// Protocol is what a provider speaks.
type Protocol string

// The protocols.
const (
	ProtocolAnthropic Protocol = "anthropic" // Anthropic's Messages
	ProtocolChat      Protocol = "chat"      // OpenAI's Chat Completions, in many dialects
	ProtocolResponses Protocol = "responses" // OpenAI's Responses
	ProtocolGemini    Protocol = "gemini"
	ProtocolBedrock   Protocol = "bedrock"
	ProtocolVertex    Protocol = "vertex"
)

var protocols = []Protocol{ProtocolAnthropic, ProtocolChat, ProtocolResponses, ProtocolGemini, ProtocolBedrock, ProtocolVertex}

// Model is what is known of a model.
type Model struct {
	Ref       string   `json:"ref"`      // names it: provider/name
	Provider  string   `json:"provider"` // the first part of Ref
	ID        string   `json:"id"`       // what the provider calls it: the rest of Ref, often with a date
	Name      string   `json:"name"`
	Context   int      `json:"context"` // tokens that fit, the reply included; 0 means not known
	Output    int      `json:"output"`  // tokens that a reply may safely have; 0 means not known
	Prices    Prices   `json:"prices"`
	Images    bool     `json:"images"`
	PDF       bool     `json:"pdf"`
	Tools     bool     `json:"tools"`
	Reasoning bool     `json:"reasoning"`
	Efforts   []string `json:"efforts"` // how much it may be told to think, the least first; none: it cannot be told
	Prefill   bool     `json:"prefill"` // takes the beginning of its reply
}

// Catalog is a set of providers and their models. It is only read, so safe for concurrent use.
type Catalog struct {
	Providers []Provider `json:"providers"` // in the order in which people see them
	Models    []Model    `json:"models"`    // those of a provider together, in its order

	byName map[string]int // ref, and provider/ID -> index in Models
}

// Open returns the catalog with what file holds merged over it. A file that
// is not there is none. Opening takes milliseconds: it is for when a model is
// looked for, not for the start of the program.
func Open(file string) (*Catalog, error) {
	c := &Catalog{}
	if err := json.Unmarshal(embedded, c); err != nil {
		return nil, fmt.Errorf("read model catalog: %w", err)
	}
	for i := range c.Models {
		c.Models[i].complete()
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || file == "":
	case err != nil:
		return nil, fmt.Errorf("read models: %w", err)
	default:
		if err := c.merge(text); err != nil {
			return nil, fmt.Errorf("read %s: %w: %w", file, err, pawl.ErrInvalid)
		}
	}
	c.byName = make(map[string]int, 2*len(c.Models))
	for i, m := range c.Models {
		c.byName[m.Provider+"/"+m.ID] = i
	}
	for i, m := range c.Models { // a ref wins over an id
		c.byName[m.Ref] = i
	}
	return c, nil
}

// complete fills in what Ref says already.
func (m *Model) complete() {
	provider, name, _ := strings.Cut(m.Ref, "/")
	if m.Provider == "" {
		m.Provider = provider
	}
	if m.ID == "" {
		m.ID = name
	}
	if m.Name == "" {
		m.Name = name
	}
}

// Provider returns a provider by its id.
func (c *Catalog) Provider(id string) (Provider, error) {
	if i := c.provider(id); i >= 0 {
		return c.Providers[i], nil
	}
	names := make([]string, 0, len(c.Providers))
	for _, p := range c.Providers {
		names = append(names, p.ID)
	}
	return Provider{}, fmt.Errorf("unknown provider %q: use %s: %w", id, strings.Join(names, ", "), pawl.ErrInvalid)
}

func (c *Catalog) provider(id string) int {
	return slices.IndexFunc(c.Providers, func(p Provider) bool { return p.ID == id })
}

// Default returns a good model of the provider's to begin with, if it has one.
func (c *Catalog) Default(provider string) (Model, bool) {
	return c.slot(provider, func(p Provider) string { return p.Default })
}

// Small returns the provider's small model, for titles and summaries, if it has one.
func (c *Catalog) Small(provider string) (Model, bool) {
	return c.slot(provider, func(p Provider) string { return p.Small })
}

func (c *Catalog) slot(provider string, ref func(Provider) string) (Model, bool) {
	i := c.provider(provider)
	if i < 0 {
		return Model{}, false
	}
	at, ok := c.byName[ref(c.Providers[i])]
	if !ok {
		return Model{}, false
	}
	return c.Models[at], true
}
