package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHiddenStaysWhereItIs: what is hidden by its path cannot be given another
// one by moving a directory above it.
func TestHiddenStaysWhereItIs(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			path := filepath.Join(w.ws, "a/b/token")
			w.write(path, w.secret("token"))
			p := w.profile
			p.Hidden = append(p.Hidden, path)
			o := w.run(p, `cat a/b/token; mv a c; mv a/b a/d; mv a/b/token x; mkdir -p a/new; mv a/new a/newer; echo works > a/b/other`)
			if damage := w.damage(o); len(damage) > 0 {
				t.Errorf("%q\n%s", damage, o.output)
			}
			if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
				t.Errorf("it is gone: %q, %v\n%s", text, err, o.output)
			}
			if backend.Name() == "landlock" {
				return // it closes the directories as a whole
			}
			for _, name := range []string{"a/newer", "a/b/other"} {
				if _, err := os.Stat(filepath.Join(w.ws, name)); err != nil {
					t.Errorf("what is beside it cannot be changed: %v\n%s", err, o.output)
				}
			}
		})
	}
}
