//go:build sectest

package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestDefensesMatter: the tests of a defense fail without it.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	collected := func(t *testing.T, out, do string) (map[string]string, error) {
		defer defense.Disable(out)()
		w := newEnv(t, map[string]string{"f": "one\n", "dir/g": "g\n", ".gitignore": ".env\n"})
		w.write(filepath.Join(w.root, "outside/g"), "secret\n")
		w.sh(w.make("a"), do)
		h, err := w.trees.Collect(t.Context(), "a", "main", label("a"))
		if err != nil {
			return nil, err
		}
		return w.files(h.Commit), nil
	}
	for _, tt := range []struct{ out, do, file string }{
		{"worktree.links", "ln -s $ROOT/outside out", "out/g"},
		{"worktree.hardlinks", "ln $ROOT/outside/g mine", "mine"},
		{"worktree.ignored", "echo x >.gitignore; echo secret >.env", ".env"},
		{"worktree.names", "echo secret >F", "F"},
	} {
		t.Run(tt.out, func(t *testing.T) {
			files, err := collected(t, tt.out, tt.do)
			if files[tt.file] != "100644 secret" {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
	t.Run("worktree.nested", func(t *testing.T) {
		if _, err := collected(t, "worktree.nested,worktree.names", "git init -q inner"); err == nil || !strings.Contains(err.Error(), "git rejects the path") {
			t.Errorf("it is not even tried: %v", err)
		}
	})
	t.Run("worktree.renames", func(t *testing.T) {
		defer defense.Disable("worktree.renames")()
		w := newEnv(t, map[string]string{"p.go": function})
		w.sh(w.make("a"), "mv p.go q.go")
		w.sh(w.make("b"), "sed -i s/1/10/ p.go")
		first, second := w.collect("a", "main").Commit, w.collect("b", "main").Commit
		w.git("update-ref", "refs/heads/pawl/m1", first)
		if m, err := w.trees.Merge(t.Context(), "pawl/m1", second, label("b")); err != nil || len(m.Conflicts) > 0 || !strings.Contains(w.files(m.Commit)["q.go"], "10") {
			t.Errorf("%+v, %v", m, err)
		}
	})
	t.Run("worktree.branch", func(t *testing.T) {
		defer defense.Disable("worktree.branch")()
		w := newEnv(t, map[string]string{"f": "one\n"})
		w.sh(w.dir, "git commit -q --allow-empty -m second")
		if err := w.trees.Advance(t.Context(), "main", "main", "pawl/m1"); err != nil || w.git("rev-parse", "main") != w.git("rev-parse", "pawl/m1") {
			t.Error(err)
		}
	})
	t.Run("worktree.trailers", func(t *testing.T) {
		defer defense.Disable("worktree.trailers")()
		l := label("a")
		l.Text = label("b").trailers()
		if !label("b").of(l.message()) {
			t.Error("the text of a task is not taken for trailers")
		}
	})
	t.Run("worktree.lock", func(t *testing.T) {
		defer defense.Disable("worktree.lock")()
		w := newEnv(t, nil)
		h, err := w.trees.hold(prefixMaking)
		if err != nil {
			t.Fatal(err)
		}
		defer h.release()
		if _, err := w.trees.Sweep(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(h.path); err == nil {
			t.Error("it is still there")
		}
	})
}
