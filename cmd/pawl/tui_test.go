package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
)

// What is chosen at the first start holds at the next one; all else in the
// configuration stays.
func TestSaveChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	t.Setenv("PAWL_CONFIG", file)
	t.Setenv("PAWL_MODEL", "")
	if err := os.WriteFile(file, []byte("{\n  // mine\n  \"fallback\": [\"a/b\"]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := saveChoice("anthropic/sonnet", "guard"); err != nil {
		t.Fatal(err)
	}
	user, err := loadUser()
	if err != nil {
		t.Fatal(err)
	}
	got := config.User{Model: user.Model, Fallback: user.Fallback, Permissions: user.Permissions}
	want := config.User{Model: "anthropic/sonnet", Fallback: []string{"a/b"}}
	want.Permissions.Mode = "guard"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := saveChoice("anthropic/sonnet", "nonsense"); err == nil {
		t.Error("a mode that there is not is kept")
	}
}
