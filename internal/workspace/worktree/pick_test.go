package worktree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPick checks that a change is applied without the changes before it, and that one that needs them is a conflict.
func TestPick(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"p.go": function, "f": "one\n"})
	base := w.git("rev-parse", "main")
	step := func(name, script, parent string) string {
		if err := w.trees.Make(t.Context(), parent, name); err != nil {
			t.Fatal(err)
		}
		w.sh(w.trees.Path(name), script)
		return w.collect(name, parent).Commit
	}
	first := step("a", "sed -i s/1/10/ p.go; echo a >a", base)
	second := step("b", "sed -i s/3/30/ p.go; echo b >b", first)
	third := step("c", "sed -i s/10/100/ p.go", second)
	moved := step("d", "mv p.go q.go", base)
	before := w.state()
	for _, tt := range []struct {
		name, onto, commit, conflicts string
		files                         map[string]string
	}{
		{"without the first", base, second, "", map[string]string{"a": "", "b": "100644 b", "f": "100644 one"}},
		{"what needs the first", base, third, "p.go: contents", nil},
		{"again", second, second, "", map[string]string{"a": "100644 a", "b": "100644 b"}},
		{"onto a rename", moved, first, "p.go: rename,q.go: rename", nil},
	} {
		m, err := w.trees.Pick(t.Context(), tt.onto, tt.commit, label("x"))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		checkMerge(t, w, m, tt.conflicts, tt.files)
		if m.Commit != "" && w.git("rev-parse", m.Commit+"^") != tt.onto {
			t.Errorf("%s: it is on top of %s", tt.name, w.git("rev-parse", m.Commit+"^"))
		}
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("the user's repository has changed:\n%s", diff)
	}
	if _, err := w.trees.Pick(t.Context(), base, base, label("x")); err == nil {
		t.Error("a commit without a parent was picked")
	}
}
