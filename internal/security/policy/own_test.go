package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestOwnFiles: no tool reads or writes pawl's own files, also where they are in
// the workspace, in whatever mode. Row H11.
func TestOwnFiles(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PAWL_DATA", "PAWL_CONFIG", "PAWL_STORE", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("PAWL_CACHE", t.TempDir())
	decide := func(dir, target string, kind pawl.AccessKind, mode permission.Mode) permission.Decision {
		t.Helper()
		s, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Policy(t.Context(), "s", dir, pawl.Settings{Mode: string(mode)})
		if err != nil {
			t.Fatal(err)
		}
		return permission.Decide(p, permission.Call{Tool: "write", Risk: toolapi.RiskSafe, Access: []pawl.Access{{Kind: kind, Target: target}}}).Decision
	}
	check := func(dir string, own ...string) {
		t.Helper()
		for _, kind := range []pawl.AccessKind{pawl.AccessRead, pawl.AccessWrite} {
			for _, mode := range []permission.Mode{permission.ModeGuard, permission.ModeAuto, permission.ModeYolo} {
				for _, target := range own {
					if got := decide(dir, target, kind, mode); got != permission.Deny {
						t.Errorf("%s of %s in the mode %s: %s", kind, target, mode, got)
					}
				}
				if got := decide(dir, "x.txt", kind, mode); got != permission.Allow {
					t.Errorf("%s of x.txt in the mode %s: %s", kind, mode, got)
				}
			}
		}
	}
	check(home, ".config/pawl/pawl.json", ".config/pawl", ".local/share/pawl/grants.json", ".local/share/pawl/pawl.db", ".local/share/pawl/blobs/x", home+"/.local/share/pawl/trust.json")

	dir := filepath.Join(home, "a [b]{c}*")
	link := filepath.Join(home, "link")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PAWL_DATA", filepath.Join(link, "data"))
	t.Setenv("PAWL_CONFIG", filepath.Join(dir, "pawl.json"))
	t.Setenv("PAWL_STORE", "sqlite:"+filepath.Join(dir, "log.db"))
	check(dir, "data/grants.json", "data", "pawl.json", "PAWL.json", "log.db", "log.db-wal", "blobs/x")

	check(home, ".config/pawl/agents/a.md", ".config/pawl/AGENTS.md") // another file has not moved the directory

	t.Setenv("PAWL_DATA", home) // the workspace is in it
	check(dir, "../grants.json", "../trust.json", "../keys.json")
}
