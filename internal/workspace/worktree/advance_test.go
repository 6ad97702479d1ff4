package worktree

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	w.sh(w.dir, "git commit -q --allow-empty -m second; git commit -q --allow-empty -m third")
	first, second, third := w.git("rev-parse", "main~2"), w.git("rev-parse", "main~1"), w.git("rev-parse", "main")
	w.git("branch", "pawl/here", first)
	w.git("worktree", "add", "-q", filepath.Join(w.root, "linked"), "pawl/here")
	w.git("symbolic-ref", "refs/heads/pawl/alias", "refs/heads/main")
	for _, tt := range []struct {
		name, branch, old, commit string
		want                      error
		at                        string // the branch afterwards
	}{
		{"forward", "pawl/m1", first, second, nil, second},
		{"again", "pawl/m1", first, second, nil, second},
		{"somebody else was there", "pawl/m1", first, third, pawl.ErrConflict, second},
		{"a new one", "pawl/m2", "", second, nil, second},
		{"a new one that is there", "pawl/m2", "", third, pawl.ErrConflict, second},
		{"one that is gone", "pawl/m3", first, third, pawl.ErrConflict, ""},
		{"a branch of the user's", "main", third, first, pawl.ErrDenied, third},
		{"a way to one", "pawl/../main", third, first, pawl.ErrInvalid, ""},
		{"one that is checked out", "pawl/here", first, third, pawl.ErrBusy, first},
		{"one that names another", "pawl/alias", third, first, nil, first},
		{"no commit", "pawl/m1", second, "none", pawl.ErrNotFound, second},
	} {
		if err := w.trees.Advance(t.Context(), tt.branch, tt.old, tt.commit); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.at != "" {
			if got := w.git("rev-parse", "refs/heads/"+tt.branch); got != tt.at {
				t.Errorf("%s: it is at %s", tt.name, got)
			}
		}
	}
	if got := w.git("rev-parse", "main"); got != third {
		t.Errorf("main is at %s", got)
	}
}

// Only the trailers of a commit identify its attempt.
func TestMerged(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	base := w.git("rev-parse", "main")
	w.write(filepath.Join(w.make("a"), "f"), "two\n")
	l := label("a")
	l.Title, l.Text = "a title\nof two lines\x00\x1b[2J", "text\n\n"+label("b").trailers()
	h, err := w.trees.Collect(t.Context(), "a", base, l)
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.trees.Merge(t.Context(), "pawl/m1", h.Commit, l)
	if err != nil {
		t.Fatal(err)
	}
	found := func(l Label, base string, want bool) {
		t.Helper()
		if commit, ok, err := w.trees.Merged(t.Context(), "pawl/m1", base, l); ok != want || ok && commit != m.Commit || err != nil {
			t.Errorf("%+v: %s, %v, %v", l, commit, ok, err)
		}
	}
	found(l, base, false)
	if err := w.trees.Advance(t.Context(), "pawl/m1", m.Onto, m.Commit); err != nil {
		t.Fatal(err)
	}
	found(l, base, true)
	found(l, m.Commit, false) // an attempt that started from this commit cannot be this commit
	found(label("b"), base, false)
	second, other := l, l
	second.Attempt, other.Mission = 2, "m2"
	found(second, base, false)
	found(other, base, false)
	if got := w.git("log", "-1", "--format=%s", m.Commit); got != "a title of two lines[2J" {
		t.Errorf("its title is %q", got)
	}
}
