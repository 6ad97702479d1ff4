//go:build sectest

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: without the defenses the tests beside it would fail.
func TestWeakened(t *testing.T) {
	defer defense.Disable("config.managed,config.paths")()
	path := filepath.Join(t.TempDir(), "managed.json")
	if err := os.WriteFile(path, []byte(`{"max_mode":"yolo"}`), 0o666); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	t.Setenv("PAWL_MANAGED", path)
	if m, err := LoadManaged(); err != nil || m.MaxMode != "yolo" {
		t.Errorf("%+v, %v", m, err)
	}
	if got, err := expandPath("~/../../etc", "/home/u"); got != "/etc" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
