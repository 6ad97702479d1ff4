// Package vertex gives access to Gemini and Claude on Google's Vertex AI.
package vertex

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// anthropicVersion is the version in the body of requests to Claude.
const anthropicVersion = "vertex-2023-10-16"

// scope is the OAuth scope of the tokens.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Account is a Google Cloud project.
type Account struct {
	Project  string
	Location string             // e.g. us-east5; "" means global
	Tokens   oauth2.TokenSource // see Default
	BaseURL  string             // "" means Google's endpoint of the location
	Base     http.RoundTripper  // nil means http.DefaultTransport
}

// Default returns the account of the application default credentials: the file in
// GOOGLE_APPLICATION_CREDENTIALS, those of gcloud, or those of the metadata server. An empty project means the
// one of the credentials.
func Default(ctx context.Context, project, location string) (Account, error) {
	// WithoutCancel, because tokens are refreshed as long as the program runs.
	creds, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), scope)
	if err != nil {
		return Account{}, fmt.Errorf("find Google credentials: %w", err)
	}
	if project == "" {
		project = creds.ProjectID
	}
	if project == "" {
		return Account{}, fault.New(pawl.ErrInvalid, "no Google Cloud project configured").Hint("Set GOOGLE_CLOUD_PROJECT.")
	}
	return Account{Project: project, Location: location, Tokens: creds.TokenSource}, nil
}

// Gemini returns a Google model.
func (a Account) Gemini(model string) *gemini.Client {
	return &gemini.Client{Endpoint: a.endpoint(), Model: model, Path: a.path("v1beta1", "google")}
}

// Claude returns an Anthropic model.
func (a Account) Claude(model string) *anthropic.Client {
	return &anthropic.Client{Endpoint: a.endpoint(), Model: model, Cloud: &anthropic.Cloud{
		Path:    a.path("v1", "anthropic") + "/" + url.PathEscape(model) + ":streamRawPredict",
		Version: anthropicVersion,
		Stream:  true,
	}}
}

func (a Account) location() string {
	if a.Location == "" {
		return "global"
	}
	return a.Location
}

func (a Account) path(version, publisher string) string {
	return "/" + version + "/projects/" + url.PathEscape(a.Project) +
		"/locations/" + url.PathEscape(a.location()) + "/publishers/" + publisher + "/models"
}

func (a Account) endpoint() protocol.Endpoint {
	base := a.BaseURL
	switch location := a.location(); {
	case base != "":
	case location == "global":
		base = "https://aiplatform.googleapis.com"
	case location == "us" || location == "eu": // multi-region
		base = "https://aiplatform." + location + ".rep.googleapis.com"
	default:
		base = "https://" + location + "-aiplatform.googleapis.com"
	}
	return protocol.Endpoint{BaseURL: base, Client: &http.Client{Transport: &signer{a.Tokens, a.Base}}}
}

// signer adds a token to each request.
type signer struct {
	tokens oauth2.TokenSource
	base   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := s.tokens.Token()
	if err != nil {
		return nil, tokenError(err)
	}
	signed := r.Clone(r.Context())
	token.SetAuthHeader(signed)
	base := s.base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(signed)
}

// tokenError classifies an error of fetching a token: whether a retry may help.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return &model.ProviderError{Kind: pawl.ErrorConnection, Message: err.Error()}
	}
	kind := pawl.ErrorAuth
	if refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError {
		kind = pawl.ErrorServer
	}
	return &model.ProviderError{Kind: kind, Message: err.Error()}
}
