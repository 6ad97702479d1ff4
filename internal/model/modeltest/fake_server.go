package modeltest

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

// FakeServer is a fake provider that runs until the test has ended.
type FakeServer struct {
	URL string // without a path, e.g. http://127.0.0.1:40123

	mu   sync.Mutex
	seen []fakeprovider.Record
}

// StartFake starts a fake provider whose script has these lines.
func StartFake(t testing.TB, c fakeprovider.Config, lines ...string) *FakeServer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := fakeprovider.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &FakeServer{}
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
		srv.CloseClientConnections() // Close would wait for hanging ones
		srv.Close()
	})
	s.URL = srv.URL
	return s
}

// Requests returns the requests so far, in order.
func (s *FakeServer) Requests() []fakeprovider.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}
