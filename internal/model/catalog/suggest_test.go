package catalog_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/catalog"
)

// TestSuggestions: misspelled aliases, refs and providers get a suggestion.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	c, err := catalog.Open(filepath.Join(t.TempDir(), "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"sonet": "sonnet", "hiaku": "haiku", "anthropic/claude-sonnet-45": "anthropic/claude-sonnet-4-5"} {
		if _, err := c.Lookup(name); err == nil || !strings.Contains(fault.Text(err), want) {
			t.Errorf("%s: %v does not suggest %s", name, err, want)
		}
	}
	if _, err := c.Provider("antropic"); err == nil || fault.Text(err) != `unknown provider "antropic". Did you mean "anthropic"?` {
		t.Errorf("got %v", err)
	}
}
