//go:build e2e

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// The secrets of a user: in the environment, in pawl's file, in its
// configuration, and one that is somebody else's.
const (
	envSecret    = "env-3f9a1c7e5b2d"
	fileSecret   = "file-3f9a1c7e5b2d"
	headerSecret = "header-3f9a1c7e5b2d"
	gitSecret    = "ghp_" + "a8Kd93jQz0LmP4vXyW7bR2tU6nHsE1cG5iFo"
)

// TestNoSecretIsKept: a provider quotes the key that it was asked with, commands
// print keys, the model repeats them. None is in the store's files or in what is
// printed. Row H12.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), filepath.Join(data, "pawl.db"))
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"type":"authentication_error","message":"wrong key: %s%s, %s"}}`,
			r.Header.Get("X-Api-Key"), r.Header.Get("Authorization"), r.Header.Get("X-Proxy-Token"))
	}))
	defer provider.Close()
	b.Write(t, "pawl.json", fmt.Sprintf(`{"small_model":"none","providers":{"anthropic":{"base_url":%[1]q,"headers":{"x-proxy-token":%[2]q}},"openai":{"base_url":%[1]q}}}`, provider.URL, headerSecret))
	if err := os.WriteFile(filepath.Join(data, "keys.json"), []byte(`{"openai":"`+fileSecret+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Env = append(b.Env, "PAWL_DATA="+data, "PAWL_CONFIG="+filepath.Join(b.Dir, "pawl.json"), "ANTHROPIC_API_KEY="+envSecret, "DBUS_SESSION_BUS_ADDRESS=")
	b.Write(t, "s.jsonl", strings.NewReplacer("ENV", envSecret, "FILE", fileSecret, "HEADER", headerSecret).Replace(
		`{"text":"I print ENV","reasoning":"FILE?","deltas":20,"calls":[{"name":"bash","input":{"command":"echo ENV FILE HEADER; seq 20000; printf FILE | cut -c1-8; echo e''nv-3f9a1c7e5b2d"}}]}
{"fault":"error","text":"no: FILE"}
`))
	var outputs []harness.Output
	for _, args := range [][]string{
		{"run", "--mode", "yolo", "--model", "anthropic/claude-sonnet-4-5", "hello"},
		{"run", "--mode", "yolo", "--model", "openai/gpt-5", "hello"},
		{"run", "--mode", "yolo", "--model", "script:s.jsonl", "my key is " + envSecret},
		{"run", "--mode", "yolo", "--model", "script:s.jsonl", "--format", "json", "my key is " + envSecret},
		{"run", "--mode", "yolo", "--model", "script:s.jsonl", "--format", "stream-json", "my key is " + envSecret},
		{"session", "list"}, {"session", "show", "last"}, {"session", "export", "last", "--blobs"},
		{"session", "export", "last", "--format", "md"}, {"session", "export", "last", "--format", "html"},
		{"run", "--session", fileSecret, "unknown"}, {"run", "--session", gitSecret, "unknown"},
	} {
		outputs = append(outputs, b.Run(t, args...))
	}
	for i, out := range outputs {
		noSecret(t, fmt.Sprintf("standard output %d", i), []byte(out.Stdout))
		noSecret(t, fmt.Sprintf("standard error %d", i), []byte(out.Stderr))
	}
	for i, want := range []string{"wrong key: [redacted", "wrong key: Bearer [redacted", "no: [redacted: openai key]"} {
		if !strings.Contains(outputs[i].Stderr, want) {
			t.Errorf("run %d does not say %q: %s", i, want, outputs[i].Stderr)
		}
	}
	files := 0
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "keys.json" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		noSecret(t, path, text)
		return err
	})
	if err != nil || files < 2 { // the database and a blob
		t.Errorf("%d files, %v", files, err)
	}
}

func noSecret(t *testing.T, where string, text []byte) {
	t.Helper()
	for _, secret := range []string{envSecret, fileSecret, headerSecret, gitSecret} {
		if i := bytes.Index(text, []byte(secret)); i >= 0 {
			t.Errorf("%s holds %s: %q", where, secret, text[max(0, i-100):min(len(text), i+50)])
		}
	}
}

// TestExportHasNoCredentials: what a person wrote is in the log as it is, and not
// in what is given to others.
func TestExportHasNoCredentials(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", `{"text":"done"}`+"\n")
	b.Must(t, "run", "--mode", "yolo", "--model", "script:s.jsonl", "push with "+gitSecret)
	if out := b.Must(t, "session", "show", "last").Stdout; !strings.Contains(out, gitSecret) {
		t.Errorf("the prompt was changed: %s", out)
	}
	out := b.Must(t, "session", "export", "last").Stdout
	if strings.Contains(out, gitSecret) || !strings.Contains(out, "push with [redacted: github token]") {
		t.Errorf("the export has %s", out)
	}
}

// TestEveryKeyVariableIsKnown: a provider's key in the environment is masked from
// the start, though the catalog was not read.
func TestEveryKeyVariableIsKnown(t *testing.T) {
	t.Parallel()
	c, err := catalog.Open("")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(c.Providers, app.SearchProviders()) {
		for _, name := range p.EnvKeys {
			var r redact.Redactor
			r.AddEnv([]string{name + "=" + envSecret})
			if r.Known(envSecret) == envSecret {
				t.Errorf("%s is not known as the name of a secret", name)
			}
		}
	}
}
