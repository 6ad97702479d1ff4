package provider

import (
	"errors"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
)

// What the catalog knows of a model reaches its client: differences are data.
func TestDial(t *testing.T) {
	known, err := catalog.Open("")
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Config: Config{
		Key:       func(catalog.Provider) (string, error) { return "a-key", nil },
		Endpoints: map[string]Endpoint{"groq": {BaseURL: "http://here/v1/", Headers: map[string]string{"x-team": "tools"}}},
	}}
	for ref, check := range map[string]func(model.Model) bool{
		"anthropic/claude-sonnet-4-5": func(m model.Model) bool {
			c, ok := m.(*anthropic.Client)
			return ok && !c.Adaptive && c.Output > 0 && c.Header.Get("X-Api-Key") == "a-key" && c.Header.Get("Anthropic-Version") != ""
		},
		"anthropic/claude-opus-4-7": func(m model.Model) bool {
			c, ok := m.(*anthropic.Client)
			return ok && c.Adaptive
		},
		"openai/gpt-5": func(m model.Model) bool {
			c, ok := m.(*responses.Client)
			return ok && !c.NoReasoning && c.BaseURL == "https://api.openai.com/v1" && c.Header.Get("Authorization") == "Bearer a-key"
		},
		"gemini/gemini-2.5-pro": func(m model.Model) bool {
			c, ok := m.(*gemini.Client)
			return ok && !c.Levels && c.Header.Get("X-Goog-Api-Key") == "a-key"
		},
		"gemini/gemini-3-pro-preview": func(m model.Model) bool {
			c, ok := m.(*gemini.Client)
			return ok && c.Levels
		},
		"groq/qwen/qwen3-32b": func(m model.Model) bool {
			c, ok := m.(*openaichat.Client)
			return ok && c.BaseURL == "http://here/v1" && c.Header.Get("X-Team") == "tools" && c.Dialect == openaichat.Dialects["groq"]
		},
		"ollama/qwen3:8b": func(m model.Model) bool {
			c, ok := m.(*openaichat.Client)
			return ok && c.Header.Get("Authorization") == "" && c.Dialect == openaichat.Dialects["ollama"]
		},
	} {
		t.Run(ref, func(t *testing.T) {
			m, err := known.Lookup(ref)
			if err != nil {
				t.Fatal(err)
			}
			p, err := known.Provider(m.Provider)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.dial(p, m)
			if err != nil || !check(got) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	// Azure's address depends on the account.
	t.Setenv("AZURE_OPENAI_BASE_URL", "")
	p, err := known.Provider("azure")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.dial(p, catalog.Model{}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("without an address: %v, want ErrInvalid", err)
	}
	if _, err := client(catalog.Provider{Name: "P", Protocol: "smoke"}, catalog.Model{}, protocol.Endpoint{}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("an unknown protocol: %v, want ErrInvalid", err)
	}
}
