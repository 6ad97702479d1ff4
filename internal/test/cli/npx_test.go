//go:build npx

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestNpxStories runs the stories in testdata/npx: an agent gets skills by the
// installer that many people use, and runs a development server. They need npm's
// registry. They are played in a
// directory that a sandbox does not replace, so that commands in it see the home
// directory.
func TestNpxStories(t *testing.T) {
	t.Parallel()
	root := inSight(t)
	cache := filepath.Join(root, "npm")
	bin := filepath.Dir(harness.Binary(t, ""))
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "..", "testdata", "npx"),
		WorkdirRoot:         root,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			home := env.WorkDir + "-home"
			for name, value := range map[string]string{
				"PAWL_DATA": env.WorkDir + "-data", "HOME": home, "XDG_CACHE_HOME": filepath.Join(home, ".cache"), "npm_config_cache": cache,
				"DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1", "GORACE": "atexit_sleep_ms=0",
			} {
				env.Setenv(name, value)
			}
			return os.Mkdir(home, 0o700)
		},
	})
}

// inSight returns a new directory that commands in a sandbox see.
func inSight(t *testing.T) string {
	t.Helper()
	base := "/var/lib"
	if os.Geteuid() != 0 {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		base = cache
	}
	dir, err := os.MkdirTemp(base, "pawl-npx-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
