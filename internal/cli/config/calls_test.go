package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
)

// TestCallLimits checks that NewModels applies the configured limits for concurrent requests, and
// that CheckUserFile reports invalid ones.
func TestCallLimits(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		bounded    bool   // requests to anthropic are limited
		refused    string // error of NewModels and of the check
		warned     string
	}{
		{"nothing", `{}`, false, "", ""},
		{"only an address", `{"providers":{"anthropic":{"base_url":"http://h"}}}`, false, "", ""},
		{"all", `{"providers":{"anthropic":{"calls":{"max":2,"models":{"claude-sonnet-4-5":1},"wait":5}},"script":{"calls":{"max":1}}}}`, true, "", ""},
		{"too many", `{"providers":{"anthropic":{"calls":{"max":1001}}}}`, false, "providers.anthropic.calls.max: 1001: use 1 to 1000", ""},
		{"a wait that never ends", `{"providers":{"anthropic":{"calls":{"wait":86401}}}}`, false, "providers.anthropic.calls.wait: 86401", ""},
		{"no such model", `{"providers":{"anthropic":{"calls":{"models":{"claude-sonet-4-5":1}}}}}`, true, "", "claude-sonet-4-5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PAWL_CONFIG", path)
			t.Setenv("PAWL_DATA", t.TempDir())
			models, err := app.NewModels()
			switch {
			case tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)):
				t.Errorf("newModels: %v", err)
			case tt.refused == "" && (err != nil || models.RateLimit.Bounded("anthropic") != tt.bounded):
				t.Errorf("newModels: %v; want bounds %v", err, tt.bounded)
			}
			wrong, unsure := "", ""
			for _, f := range CheckUserFile(path) {
				if f.Level == config.LevelError {
					wrong += f.Message
				} else {
					unsure += f.Message
				}
			}
			if (wrong == "") != (tt.refused == "") || !strings.Contains(wrong, tt.refused) || (unsure == "") != (tt.warned == "") || !strings.Contains(unsure, tt.warned) {
				t.Errorf("errors %q, warnings %q", wrong, unsure)
			}
		})
	}
}
