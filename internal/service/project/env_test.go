package project_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
)

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: discard{}}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// testEnv is a user with a home directory, a directory to work in, and a project.
type testEnv struct {
	*testing.T
	*project.Local
	home, dir string
	store     store.Store
	now       time.Time
}

// newEnv makes one. change may change what the project is given.
func newEnv(t *testing.T, change ...func(*project.Config)) *testEnv {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{T: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work"), now: time.Unix(1_800_000_000, 0)}
	for name, path := range map[string]string{"HOME": "home", "PAWL_DATA": "data", "PAWL_CACHE": "cache", "XDG_CONFIG_HOME": "config", "": "work"} {
		if err := os.Mkdir(filepath.Join(base, path), 0o700); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			t.Setenv(name, filepath.Join(base, path))
		}
	}
	t.Setenv("PAWL_CONFIG", filepath.Join(base, "config", "pawl.json"))
	guard, err := policy.Open()
	if err != nil {
		t.Fatal(err)
	}
	if w.store, err = sqlite.Open(t.Context(), filepath.Join(base, "pawl.db")); err != nil {
		t.Fatal(err)
	}
	c := project.Config{
		Safety: guard, Store: w.store, Clock: func() time.Time { return w.now },
		Places:  extension.Places{Home: w.home, Trusted: guard.Instructs, Reserved: agent.Reserved()},
		Catalog: func() (*catalog.Catalog, error) { return &catalog.Catalog{}, nil },
		HasKey:  func(catalog.Provider) bool { return false },
	}
	for _, f := range change {
		f(&c)
	}
	w.Local = project.New(c)
	t.Cleanup(func() {
		w.Close()
		guard.Close()
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// put writes files below a directory; one that begins with -> is a link.
func (w *testEnv) put(dir string, files map[string]string) {
	w.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.Fatal(err)
		}
		var err error
		if len(text) > 2 && text[:2] == "->" {
			err = os.Symlink(text[2:], path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			w.Fatal(err)
		}
	}
}

func (w *testEnv) git(args ...string) {
	w.Helper()
	if out, err := exec.CommandContext(w.Context(), "git", append([]string{"-C", w.dir}, args...)...).CombinedOutput(); err != nil {
		w.Fatalf("git: %v: %s", err, out)
	}
}

func (w *testEnv) look() pawl.Project {
	w.Helper()
	f, err := w.Look(w.Context(), w.dir)
	if err != nil {
		w.Fatal(err)
	}
	return f
}

// trust trusts the directory as it is.
func (w *testEnv) trust() {
	w.Helper()
	if err := w.Trust(w.Context(), w.dir, w.look().Trust.Hash); err != nil {
		w.Fatal(err)
	}
}
