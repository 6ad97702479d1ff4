package provider

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
)

// A provider takes every client's requests with files.
func TestFilesAreTaken(t *testing.T) {
	t.Parallel()
	at := func(url string) protocol.Endpoint {
		return protocol.Endpoint{BaseURL: url, Header: http.Header{"Anthropic-Version": {anthropic.Version}}}
	}
	clients := map[string]func(url string) model.Model{
		"messages":  func(url string) model.Model { return &anthropic.Client{Endpoint: at(url), Model: "claude"} },
		"responses": func(url string) model.Model { return &responses.Client{Endpoint: at(url + "/v1"), Model: "gpt"} },
		"gemini 2":  func(url string) model.Model { return &gemini.Client{Endpoint: at(url), Model: "gemini-2.5-pro"} },
		"gemini 3": func(url string) model.Model {
			return &gemini.Client{Endpoint: at(url), Model: "gemini-3-pro-preview", Levels: true}
		},
	}
	for name, dialect := range openaichat.Dialects {
		for _, id := range []string{"m", "anthropic/claude", "mistral"} {
			clients["chat "+name+" "+id] = func(url string) model.Model {
				return &openaichat.Client{Endpoint: at(url + "/v1"), Model: id, Dialect: dialect}
			}
		}
	}
	// A word of the assistant that is put in between counts as a reply.
	server := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"text":"two"}`, `{"text":"three"}`)
	for client, open := range clients {
		for name, req := range modeltest.FileRequests() {
			if _, err := modeltest.Read(t.Context(), open(server.URL), req); err != nil {
				t.Errorf("%s: %s: %v", client, name, err)
			}
		}
	}
}

func TestTakes(t *testing.T) {
	t.Parallel()
	usual := protocol.Takes{"image/png", "image/jpeg", "image/webp", "image/gif"}
	known, err := catalog.Open("")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]protocol.Takes{
		"anthropic/claude-sonnet-4-5":             append(usual[:4:4], protocol.PDF),
		"openai/gpt-5":                            append(usual[:4:4], protocol.PDF),
		"gemini/gemini-2.5-pro":                   append(usual[:3:3], protocol.PDF),
		"vertexai/gemini-2.5-pro":                 append(usual[:3:3], protocol.PDF),
		"vertexai/claude-sonnet-4-5":              append(usual[:4:4], protocol.PDF),
		"openrouter/mistralai/mistral-medium-3.1": usual,
		"xai/grok-4.5":                            usual[:2],
		"groq/qwen/qwen3-32b":                     nil,
		"ollama/qwen3-vl:8b":                      nil, // nothing is known of it
	} {
		m, err := known.Lookup(ref)
		if err != nil {
			t.Fatal(err)
		}
		p, err := known.Provider(m.Provider)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, takes(p, m)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", ref, diff)
		}
	}
}

// The catalog, and what the user corrects in it, decides which files are sent.
func TestFilesByTheCatalog(t *testing.T) {
	t.Parallel()
	server := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"text":"two"}`)
	file := filepath.Join(t.TempDir(), "models.json")
	text := fmt.Sprintf(`{"providers":[{"id":"house","protocol":"chat","base_url":%q,"local":true}],"models":[{"ref":"house/eyes","images":true}]}`, server.URL+"/v1")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Config: Config{Catalog: func() (*catalog.Catalog, error) { return known, nil }}}
	result := pawl.ToolResult{Call: "c1", Content: "two files", Files: []pawl.File{
		{Name: "a.png", MediaType: "image/png", Data: []byte("png")},
		{Name: "a.pdf", MediaType: protocol.PDF, Data: []byte("%PDF")},
	}}
	req := model.Request{Messages: []pawl.Message{
		modeltest.Prompt("Read them."),
		modeltest.Answer(pawl.ToolCall{ID: "c1", Name: "read", Input: []byte(`{}`)}),
		modeltest.Results(result),
	}}
	for ref, want := range map[string]string{
		"house/eyes":  "image_url, no PDF files",
		"house/blind": "no images, no PDF files",
	} {
		m, err := o.Open(ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := modeltest.Read(t.Context(), m, req); err != nil {
			t.Fatal(err)
		}
		seen := server.Requests()
		var got []string
		for _, word := range []string{"image_url", "file_data", "no images", "no PDF files"} {
			if bytes.Contains(seen[len(seen)-1].Body, []byte(word)) {
				got = append(got, word)
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: the request has %q, want %q: %s", ref, s, want, seen[len(seen)-1].Body)
		}
	}
}
