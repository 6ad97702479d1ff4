package backend_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
)

func TestOpenFile(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir(t.TempDir())
	for _, ref := range []string{filepath.Join(t.TempDir(), "a.db"), "sqlite:b.db", "c.db", "postgres", "./x://y.db"} {
		s, err := backend.Open(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.(*sqlite.Store); !ok {
			t.Errorf("%s opened a %T", ref, s)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenRefuses also checks that a PostgreSQL URL reaches that store, by the error
// for a server that does not exist.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ref  string
		want error
	}{
		{"", pawl.ErrInvalid},
		{"sqlite:", pawl.ErrInvalid},
		{"mysql://me:secret@host/db", pawl.ErrInvalid},
		{"sqlite://x", pawl.ErrInvalid},
		{"postgres://me:secret@127.0.0.1:1/db?sslmode=disable", pawl.ErrUnavailable},
		{"postgresql://me:secret@127.0.0.1:1/db?sslmode=disable", pawl.ErrUnavailable},
	} {
		s, err := backend.Open(t.Context(), c.ref)
		if s != nil || !errors.Is(err, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.ref, s, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
