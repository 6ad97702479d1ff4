package git

import (
	"os"
	"strings"
	"testing"
)

// After Endow a repository no longer needs the one that it was created from.
func TestEndow(t *testing.T) {
	t.Parallel()
	for name, commits := range map[string]int{"whole": 2, "cut": maxEndowed + 1} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for range commits - 1 { // the first one exists
				w.must("commit", "--quiet", "--allow-empty", "-m", "next")
			}
			commit, tree := w.must("rev-parse", "HEAD"), w.must("rev-parse", "HEAD^{tree}")
			repo, dir := w.repo(), t.TempDir()
			if err := repo.Borrow(dir, "work", commit); err != nil {
				t.Fatal(err)
			}
			if err := repo.Endow(t.Context(), dir, commit); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(w.dir); err != nil {
				t.Fatal(err)
			}
			w.dir = dir
			if log := strings.Fields(w.must("log", "--format=%H")); len(log) != min(commits, maxEndowed) || log[0] != commit {
				t.Errorf("its history has %d commits, and begins at %s", len(log), log[0])
			}
			if got := w.must("rev-parse", "HEAD^{tree}"); got != tree {
				t.Errorf("it holds %s, not %s", got, tree)
			}
			w.must("fsck", "--strict", "--no-dangling")
		})
	}
}
