// Package wiretest starts fake providers for tests.
package wiretest

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

// Server is a fake provider that runs until the test has ended.
type Server struct {
	URL string // without a path, e.g. http://127.0.0.1:40123

	mu   sync.Mutex
	seen []fakeprovider.Record
}

// Start starts a fake provider whose script has these lines.
func Start(t testing.TB, c fakeprovider.Config, lines ...string) *Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := fakeprovider.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{}
	log := c.Log
	c.Log = func(r fakeprovider.Record) {
		s.mu.Lock()
		s.seen = append(s.seen, r)
		s.mu.Unlock()
		if log != nil {
			log(r)
		}
	}
	srv := httptest.NewServer(fakeprovider.Handler(m, c))
	t.Cleanup(func() {
		srv.CloseClientConnections() // or Close would wait for the ones that hang
		srv.Close()
	})
	s.URL = srv.URL
	return s
}

// Requests returns what the server has seen so far, in order.
func (s *Server) Requests() []fakeprovider.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}
