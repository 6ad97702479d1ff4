package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A planted repository has the given files and nothing else of their repository.
func TestPlant(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.file("later", "the future\n")
	w.must("add", ".")
	w.must("commit", "-q", "-m", "second")
	w.must("tag", "future")
	first := w.must("rev-parse", "main~1")
	w.file(".gitattributes", "* filter=evil\n")
	for _, key := range []string{"filter.evil.smudge", "core.fsmonitor", "core.hooksPath"} {
		w.must("config", key, w.evil)
	}
	repo := w.repo()
	entries, err := repo.Tree(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "planted")
	planted, tree, err := repo.Plant(t.Context(), dir, entries)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.tripped(); got != "" {
		t.Errorf("it ran %s", got)
	}
	if want := w.must("rev-parse", "main~1^{tree}"); tree != want {
		t.Errorf("the tree is %s, not %s", tree, want)
	}
	for name, want := range map[string]string{"f": "one\n", "sub/g": "g\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	status, err := planted.Status(t.Context())
	if err != nil || len(status.Files) > 0 {
		t.Errorf("it is not clean: %v, %v", status, err)
	}
	for _, ref := range []string{"future", "main", w.must("rev-parse", "main")} {
		if _, err := planted.Commit(t.Context(), ref); err == nil {
			t.Errorf("it knows %s", ref)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil || strings.Contains(string(config), "evil") {
		t.Errorf("its settings are %q, %v", config, err)
	}
	if _, _, err := repo.Plant(t.Context(), dir, entries); err == nil {
		t.Error("it was planted over what was there")
	}
}

// A tree can combine files of several commits.
func TestPlantMixed(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.must("commit", "-q", "-a", "-m", "second")
	repo := w.repo()
	old, err := repo.Tree(t.Context(), w.must("rev-parse", "main~1"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := repo.Tree(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	mixed := slices.DeleteFunc(slices.Concat(old, now), func(e Entry) bool {
		return e.Path == "f" && slices.Contains(now, e) || e.Path != "f" && !slices.Contains(now, e)
	})
	dir := filepath.Join(t.TempDir(), "planted")
	if _, _, err := repo.Plant(t.Context(), dir, mixed); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "one\n" {
		t.Errorf("f is %q, %v", got, err)
	}
}
