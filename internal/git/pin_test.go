package git

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serve serves a repository of one commit at https://example.com:port/repo.git, for
// clients that get the IP address from At.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) (address, port string) {
	t.Helper()
	root := t.TempDir()
	repo := filepath.Join(root, "repo.git")
	script := "git init -q -b main " + repo + " && cd " + repo + " && echo hello >a.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git update-server-info"
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	where, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(where)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}}
	server := httptest.NewTLSServer(wrap(backend))
	t.Cleanup(server.Close)
	ca := filepath.Join(root, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSL_CAINFO", ca)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, "")
	}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return "https://example.com:" + u.Port() + "/repo.git", u.Port()
}

// Git connects to the pinned address, whatever the host's DNS answers later.
func TestPinned(t *testing.T) { //nolint:paralleltest // it sets environment variables
	address, _ := serve(t, func(h http.Handler) http.Handler { return h })
	g := finder(t)
	dir := filepath.Join(t.TempDir(), "clone")
	if err := g.Clone(t.Context(), Remote{Address: address, At: "127.0.0.1"}, dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := g.Clone(t.Context(), Remote{Address: address, At: "127.0.0.9"}, dir+"2"); err == nil {
		t.Error("it was found elsewhere")
	}
}

// A permitted server cannot redirect git to another one.
func TestPinnedRedirect(t *testing.T) { //nolint:paralleltest // it sets environment variables
	address, port := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host[:4] == "exam" {
				http.Redirect(w, r, "https://127.0.0.1:"+strings.Split(r.Host, ":")[1]+r.URL.String(), http.StatusFound)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	g := finder(t)
	dir := filepath.Join(t.TempDir(), "clone")
	if err := g.Clone(t.Context(), Remote{Address: address, At: "127.0.0.1"}, dir); err == nil {
		t.Error("git went where it was sent")
	}
	if err := g.Clone(t.Context(), Remote{Address: "https://127.0.0.1:" + port + "/repo.git"}, dir+"2"); err != nil {
		t.Errorf("the place that it was sent to does not work: %v", err)
	}
}
