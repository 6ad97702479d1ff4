package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// TestUnattended checks how long asks wait by default and as configured.
func TestUnattended(t *testing.T) {
	config := filepath.Join(t.TempDir(), "pawl.json")
	t.Setenv("PAWL_CONFIG", config)
	t.Setenv("PAWL_DATA", t.TempDir())
	a, err := app.Open(t.Context(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	clients := presence{log: slog.New(slog.DiscardHandler)}
	if clients.unattended(time.Time{}) {
		t.Error("before the server is open, nobody can connect")
	}
	clients.open(a, httpapi.New(httpapi.Config{}))
	for text, limit := range map[string]time.Duration{
		`{}`: time.Minute, `{"permissions":{"ask_timeout":"2h"}}`: 2 * time.Hour, `{"permissions":{"ask_timeout":"0s"}}`: 0,
		`{"permissions":{"ask_timeout":"soon"}}`: 0, `{"permissions":`: 0,
	} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, waited := range []time.Duration{0, time.Minute - time.Second, time.Minute + time.Second, 3 * time.Hour} {
			want := limit > 0 && waited > limit // 0 means forever
			if got := clients.unattended(time.Now().Add(-waited)); got != want {
				t.Errorf("%s: after %s: %t, want %t", text, waited, got, want)
			}
		}
	}
}
