package git

import (
	"os"
	"path/filepath"
	"testing"
)

// A repository is mirrored, updated, and cloned from the mirror; its hooks and settings
// have no effect on the way.
func TestMirrorAndClone(t *testing.T) {
	t.Parallel()
	w := newEnv(t) // f is "one" in the commit and "two, and longer" in the directory
	dir := t.TempDir()
	g, err := Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	from := Remote{Address: "file://" + w.dir, Local: true}
	kept := filepath.Join(dir, "kept")
	first, err := g.Mirror(t.Context(), from, kept)
	if err != nil {
		t.Fatal(err)
	}
	w.must("commit", "-q", "-a", "-m", "second")
	second, err := g.Mirror(t.Context(), from, kept)
	if err != nil || second == first {
		t.Fatalf("%s, %v", second, err)
	}
	for commit, want := range map[string]string{first: "one\n", second: "two, and longer\n"} {
		clone := filepath.Join(dir, commit)
		if err := g.Clone(t.Context(), Remote{Address: "file://" + kept, Ref: commit, Local: true}, clone); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(clone, "f")); string(text) != want {
			t.Errorf("%s: %q, %v", commit, text, err)
		}
	}
	if err := g.Clone(t.Context(), Remote{Address: "file://" + filepath.Join(dir, "none"), Local: true}, filepath.Join(dir, "x")); err == nil {
		t.Error("nothing was cloned from nowhere")
	}
}

// A clone has the files of a commit, on a branch, with its history, and is clean.
func TestClone(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	if err := os.WriteFile(filepath.Join(w.dir, "cloned.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("add", "cloned.txt")
	w.must("commit", "--quiet", "-m", "next")
	commit, count := w.must("rev-parse", "HEAD"), w.must("rev-list", "--count", "HEAD")
	g, err := Find(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "clone")
	if err := g.Clone(t.Context(), Remote{Address: "file://" + w.dir, Local: true}, dir); err != nil {
		t.Fatal(err)
	}
	w.dir = dir
	for what, c := range map[string]struct{ got, want string }{
		"the commit":  {w.must("rev-parse", "HEAD"), commit},
		"the history": {w.must("rev-list", "--count", "HEAD"), count},
		"the branch":  {w.must("symbolic-ref", "HEAD"), "refs/heads/" + cloneBranch},
		"the changes": {w.must("status", "--porcelain"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", what, c.got, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cloned.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
