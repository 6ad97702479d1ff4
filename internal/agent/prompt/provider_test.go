package prompt_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
)

// providers are clients of all protocols, whose requests the fake provider checks.
type providers map[string]model.Model

func newProviders(t *testing.T) providers {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(`{"text":"ok"}`+"\n", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := fakeprovider.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: direct{fakeprovider.Handler(script, fakeprovider.Config{})}}
	at := func(base string) protocol.Endpoint {
		return protocol.Endpoint{BaseURL: "http://fake" + base, Client: client, Header: http.Header{"Anthropic-Version": {anthropic.Version}}}
	}
	return providers{
		"messages":          &anthropic.Client{Endpoint: at(""), Model: "claude-sonnet-4-5", Output: 64_000},
		"messages adaptive": &anthropic.Client{Endpoint: at(""), Model: "claude-opus-4-7", Output: 64_000, Adaptive: true},
		"chat":              &openaichat.Client{Endpoint: at("/v1"), Model: "gpt-4.1", Dialect: openaichat.Dialects["openai"]},
		"chat deepseek":     &openaichat.Client{Endpoint: at("/v1"), Model: "deepseek-v4", Dialect: openaichat.Dialects["deepseek"]},
		"chat mistral":      &openaichat.Client{Endpoint: at("/v1"), Model: "mistral-large"},
		"responses":         &responses.Client{Endpoint: at("/v1"), Model: "gpt-5"},
		"gemini 2":          &gemini.Client{Endpoint: at(""), Model: "gemini-2.5-pro"},
		"gemini 3":          &gemini.Client{Endpoint: at(""), Model: "gemini-3-pro", Levels: true},
	}
}

// direct hands requests to a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// check sends the messages to each provider and returns what the first that refuses them says.
func (p providers) check(ctx context.Context, messages []pawl.Message) (provider string, err error) {
	req := model.Request{
		System: "Be brief.", Tools: modeltest.Tools(), Effort: "medium",
		Messages: protocol.Takes{"image/png", protocol.PDF}.Fit(messages),
	}
	for name, m := range p {
		if _, err := modeltest.Read(ctx, m, req); err != nil {
			return name, err
		}
	}
	return "", nil
}
