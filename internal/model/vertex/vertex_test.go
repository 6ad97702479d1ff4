package vertex

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// cloud is Google as far as the tests need it: a token server that takes
// service accounts' claims, and models that take its tokens.
type cloud struct {
	url    string
	status int // of the token server's answers; 0 means OK
	tokens int // how many it gave
	asked  []string
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		c.tokens++
		w.Header().Set("Content-Type", "application/json")
		if c.status != 0 {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"Account not found"}`)
			return
		}
		if r.FormValue("assertion") == "" {
			t.Errorf("a token was asked for with %s", r.Form)
		}
		_, _ = io.WriteString(w, `{"access_token":"t1","token_type":"Bearer","expires_in":3600}`)
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.asked = append(c.asked, r.Header.Get("Authorization")+" "+r.RequestURI+" "+string(body))
		if strings.Contains(r.RequestURI, "/anthropic/") {
			_, _ = io.WriteString(w, "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
			return
		}
		_, _ = io.WriteString(w, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// signIn writes the key file of a service account and points the machine at it.
func (c *cloud) signIn(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "own-project", "client_email": "pawl@example.com", "token_uri": c.url + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

func TestRequests(t *testing.T) { //nolint:paralleltest // it sets environment variables
	c := newCloud(t)
	c.signIn(t)
	account, err := Default(t.Context(), "", "us-east5")
	if err != nil {
		t.Fatal(err)
	}
	account.BaseURL = c.url
	req := model.Request{Messages: []pawl.Message{modeltest.Prompt("Hello.")}}
	for _, m := range []model.Model{account.Gemini("gemini-2.5-pro"), account.Claude("claude-3-7-sonnet@20250219")} {
		if _, err := modeltest.Read(t.Context(), m, req); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`Bearer t1 /v1beta1/projects/own-project/locations/us-east5/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse ` +
			`{"contents":[{"role":"user","parts":[{"text":"Hello."}]}]}`,
		`Bearer t1 /v1/projects/own-project/locations/us-east5/publishers/anthropic/models/claude-3-7-sonnet@20250219:streamRawPredict ` +
			`{"anthropic_version":"vertex-2023-10-16","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hello.","cache_control":{"type":"ephemeral"}}]}]}`,
	}
	if diff := cmp.Diff(want, c.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.tokens != 1 {
		t.Errorf("%d tokens were asked for, want 1: it holds for an hour", c.tokens)
	}
}

// The recorded addresses are those that we would ask.
func TestRecordedAddresses(t *testing.T) {
	t.Parallel()
	const project = "fantasy-playground-472418"
	account := Account{Project: project, Location: "us-east5"}
	n := 0
	for _, x := range modeltest.Cassettes(t, "us-east5-aiplatform.googleapis.com") {
		base, rest, _ := strings.Cut(x.URL, "/publishers/")
		publisher, rest, _ := strings.Cut(rest, "/models/")
		model, verb, _ := strings.Cut(rest, ":")
		switch verb {
		case "streamRawPredict":
			n++
			m := account.Claude(model)
			if got := m.BaseURL + m.Cloud.Path; got != x.URL {
				t.Errorf("got %s, want %s", got, x.URL)
			}
		case "streamGenerateContent?alt=sse":
			n++
			m := account.Gemini(model)
			if got, want := m.BaseURL+m.Path, base+"/publishers/"+publisher+"/models"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
	t.Logf("%d addresses", n)
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"":             "https://aiplatform.googleapis.com",
		"global":       "https://aiplatform.googleapis.com",
		"eu":           "https://aiplatform.eu.rep.googleapis.com",
		"europe-west4": "https://europe-west4-aiplatform.googleapis.com",
	} {
		if got := (Account{Location: location}).Gemini("m").BaseURL; got != want {
			t.Errorf("%q: got %s, want %s", location, got, want)
		}
	}
}

func TestTokenRefused(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for status, want := range map[int]pawl.ErrorKind{http.StatusBadRequest: pawl.ErrorAuth, http.StatusServiceUnavailable: pawl.ErrorServer} {
		c := newCloud(t)
		c.signIn(t)
		c.status = status
		account, err := Default(t.Context(), "p", "")
		if err != nil {
			t.Fatal(err)
		}
		account.BaseURL = c.url
		_, err = modeltest.Read(t.Context(), account.Gemini("m"), model.Request{})
		var failed *model.ProviderError
		if !errors.As(err, &failed) || failed.Kind != want || len(c.asked) > 0 {
			t.Errorf("%d: got %v after %d requests, want %s", status, err, len(c.asked), want)
		}
	}
}

type unreachable struct{}

func (unreachable) Token() (*oauth2.Token, error) { return nil, errors.New("no route") }

func TestTokenServerUnreachable(t *testing.T) {
	t.Parallel()
	_, err := modeltest.Read(t.Context(), Account{Project: "p", Tokens: unreachable{}}.Gemini("m"), model.Request{})
	var failed *model.ProviderError
	if !errors.As(err, &failed) || failed.Kind != pawl.ErrorConnection {
		t.Errorf("got %v, want %s", err, pawl.ErrorConnection)
	}
}

func TestNotSignedIn(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	if _, err := Default(t.Context(), "p", ""); err == nil {
		t.Error("found credentials in a file that is not there")
	}
}
