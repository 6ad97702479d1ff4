package provider

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/bedrock"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
	"github.com/pawl-dev/pawl/internal/model/vertex"
)

// dial returns a client for the provider's protocol. Cloud providers have their own sign-in; the others need a
// key, except for local servers.
func (o *Opener) dial(p catalog.Provider, m catalog.Model) (model.Model, error) {
	switch p.Protocol {
	case catalog.ProtocolBedrock:
		account, err := bedrock.Environment(os.Getenv)
		if err != nil {
			return nil, err
		}
		return claudeClient(account.Claude(m.ID), m), nil
	case catalog.ProtocolVertex:
		account, err := vertex.Default(context.Background(), os.Getenv("GOOGLE_CLOUD_PROJECT"), os.Getenv("GOOGLE_CLOUD_LOCATION"))
		if err != nil {
			return nil, err
		}
		if isClaude(m) { // the publisher is part of the URL
			return claudeClient(account.Claude(m.ID), m), nil
		}
		return geminiClient(account.Gemini(m.ID), m), nil
	default:
	}
	key := ""
	if !p.Local || len(p.EnvKeys) > 0 {
		var err error
		if key, err = o.Key(p); err != nil {
			return nil, &keyError{err}
		}
	}
	base, own, err := o.endpoint(p)
	if err != nil {
		return nil, err
	}
	return client(p, m, protocol.Endpoint{BaseURL: base, Header: headers(p, key, own)})
}

// keyError is the error of a provider whose key is missing.
type keyError struct{ error }

// Unwrap returns the reason.
func (e *keyError) Unwrap() error { return e.error }

// headers returns the headers of each request. The user's override Pawl's.
func headers(p catalog.Provider, key string, own http.Header) http.Header {
	header := http.Header{}
	switch {
	case key == "":
	case p.Protocol == catalog.ProtocolAnthropic:
		header.Set("X-Api-Key", key)
	case p.Protocol == catalog.ProtocolGemini:
		header.Set("X-Goog-Api-Key", key)
	case p.Dialect == "azure":
		header.Set("Api-Key", key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	if p.Protocol == catalog.ProtocolAnthropic {
		header.Set("Anthropic-Version", anthropic.Version)
	}
	for name, values := range own {
		header[name] = values
	}
	return header
}

func client(p catalog.Provider, m catalog.Model, at protocol.Endpoint) (model.Model, error) {
	switch p.Protocol {
	case catalog.ProtocolAnthropic:
		return claudeClient(&anthropic.Client{Endpoint: at, Model: m.ID}, m), nil
	case catalog.ProtocolChat:
		return &openaichat.Client{Endpoint: at, Model: m.ID, Dialect: openaichat.Dialects[p.Dialect], Reasons: m.Reasoning}, nil
	case catalog.ProtocolResponses:
		return &responses.Client{Endpoint: at, Model: m.ID, NoReasoning: !m.Reasoning}, nil
	case catalog.ProtocolGemini:
		return geminiClient(&gemini.Client{Endpoint: at, Model: m.ID}, m), nil
	default:
		return nil, fault.New(pawl.ErrInvalid, "provider %s has unknown protocol %q", p.Name, p.Protocol)
	}
}

// isClaude reports whether a model is by Anthropic, on a cloud that serves several vendors.
func isClaude(m catalog.Model) bool { return strings.HasPrefix(m.ID, "claude-") }

// claudeClient configures a client with what the catalog knows about its model. Models that support an effort but no
// prefill use adaptive thinking.
func claudeClient(c *anthropic.Client, m catalog.Model) model.Model {
	c.Output, c.Adaptive = m.Output, len(m.Efforts) > 0 && !m.Prefill
	return c
}

// geminiClient does the same for Gemini: models that support an effort take it as a level.
func geminiClient(c *gemini.Client, m catalog.Model) model.Model {
	c.Output, c.Levels = m.Output, len(m.Efforts) > 0
	return c
}
