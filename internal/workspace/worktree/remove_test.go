package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

func (w *env) left() []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.trees.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRemove(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	w.write(filepath.Join(w.root, "outside/g"), "g\n")
	if err := os.Chmod(filepath.Join(w.root, "outside"), 0o500); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	if err := w.trees.Remove("none"); err != nil {
		t.Error(err)
	}
	for name, do := range map[string]string{
		"plain":     "true",
		"cache":     "mkdir -p c/d/e; touch c/d/e/f; chmod 500 c/d/e c/d c; chmod 400 c/d/e/f",
		"closed":    "mkdir -p c/d; touch c/d/f; chmod 000 c/d c; chmod 500 .",
		"links":     "ln -s $ROOT/outside out; mkdir c; ln -s $ROOT/outside c/out; chmod 500 c",
		"pipe":      "mkfifo p",
		"deep":      "mkdir -p $(printf 'd/%.0s' $(seq 1500))",
		"gone":      "rm -rf $PWD",
		"odd names": "touch -- -r '*' 'a b'",
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.sh(w.make("w"), do)
			asOwner(t, func() {
				if err := w.trees.Remove("w"); err != nil {
					t.Error(err)
				}
			})
			if got := w.left(); len(got) > 0 {
				t.Errorf("it is still there: %v", got)
			}
		})
	}
	info, err := os.Stat(filepath.Join(w.root, "outside"))
	if err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("what a link leads to is %v, %v", info, err)
	}
}

// Sweep removes only directories that no process uses.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	if removed, err := w.trees.Sweep(t.Context(), nil); err != nil || removed != nil {
		t.Errorf("of nothing: %v, %v", removed, err)
	}
	if err := w.trees.Make(t.Context(), "main", "keep", "drop"); err != nil {
		t.Fatal(err)
	}
	for _, dead := range []string{".making-1", ".apart-2", ".gone-3"} {
		w.write(filepath.Join(w.trees.Dir, dead, "x"), "x")
	}
	w.write(filepath.Join(w.trees.Dir, ".apart-4"), "contents")
	w.write(filepath.Join(w.trees.Dir, ".other"), "not pawl's")
	alive, err := w.trees.hold(prefixMaking)
	if err != nil {
		t.Fatal(err)
	}
	removed, err := w.trees.Sweep(t.Context(), func(name string) bool { return name == "keep" })
	if err != nil || !slices.Equal(removed, []string{"drop"}) {
		t.Errorf("%v, %v", removed, err)
	}
	want := []string{filepath.Base(alive.path), ".other", "keep"}
	if diff := cmp.Diff(want, w.left()); diff != "" {
		t.Error(diff)
	}
	alive.release()
	wait.Until(t, "its directory is removed", func() bool { // a process that another test starts holds the lock until it executes
		if _, err := w.trees.Sweep(t.Context(), func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		return slices.Equal(w.left(), []string{".other", "keep"})
	})
}

// Files that cannot be read are reported to the worker as an error.
func TestCollectUnreadable(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n", "d/g": "g\n", ".gitignore": "*.log\n"})
	for name, tt := range map[string]struct{ do, want string }{
		"a file":          {"chmod 000 f", `"f" cannot be read: make it readable, or remove it`},
		"a folder":        {"chmod 000 d", `"d" cannot be read: make it readable, or remove it`},
		"an ignored file": {"echo x >x.log; chmod 000 x.log", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.sh(w.make("w"), tt.do)
			asOwner(t, func() {
				_, err := w.trees.Collect(t.Context(), "w", "main", label("w"))
				if (err == nil) != (tt.want == "") || err != nil && !contains(err, tt.want) {
					t.Error(err)
				}
			})
			if err := w.trees.Remove("w"); err != nil {
				t.Error(err)
			}
		})
	}
}
