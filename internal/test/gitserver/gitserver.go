// Package gitserver serves git repositories over HTTPS, for tests.
package gitserver

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Server serves repositories at https://host/owner/repository.
type Server struct {
	Host string // with the port
	CA   string // the file of its certificate, for GIT_SSL_CAINFO

	t    testing.TB
	root string

	mu        sync.Mutex
	redirects map[string]string
	requests  int
}

// Start starts a server without repositories.
func Start(t testing.TB) *Server {
	t.Helper()
	where, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, root: t.TempDir(), redirects: map[string]string{}}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(where)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: io.Discard}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := s.redirect(r.URL.Path); to != "" {
			http.Redirect(w, r, to+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.Host = strings.TrimPrefix(server.URL, "https://")
	s.CA = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.CA, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// redirect counts a request, and returns where it is sent to.
func (s *Server) redirect(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	for from, to := range s.redirects {
		if rest, ok := strings.CutPrefix(path, "/"+from+"/"); ok {
			return "/" + to + "/" + rest
		}
	}
	return ""
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Redirect sends requests for a repository to another one.
func (s *Server) Redirect(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redirects[from] = to
}

// Env returns the environment that lets git trust the server.
func (s *Server) Env() []string {
	return []string{"GIT_SSL_CAINFO=" + s.CA, "HTTPS_PROXY=", "https_proxy=", "NO_PROXY=*", "no_proxy=*"}
}

// Commit commits files to a repository owner/name, which it creates, and returns the
// commit. Files that are not given stay. A text that begins with -> is a link, and
// "submodule" is one.
func (s *Server) Commit(repo string, files map[string]string) string {
	s.t.Helper()
	dir := filepath.Join(s.root, repo)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.git(dir, "init", "-q", "-b", "main")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.t.Fatal(err)
		}
		var err error
		switch to, link := strings.CutPrefix(text, "->"); {
		case text == "submodule":
			s.git(dir, "update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,"+name)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if text != "submodule" {
			s.git(dir, "add", name)
		}
	}
	s.git(dir, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "c")
	return s.git(dir, "rev-parse", "HEAD")
}

func (s *Server) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
