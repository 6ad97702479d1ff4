package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.ts": "1", "b.ts": "1", "c.txt": "1", ".git/x.ts": "1", "sub/d.ts": "1",
		"node_modules/one/index.ts": "1", "node_modules/@types/node/index.ts": "1", "node_modules/.cache/x.ts": "1",
	})
	w := watch{root: dir, reads: Spec{Files: map[string]string{".ts": "x"}, Reads: []string{".json"}}.reads}
	look := func(want ...fileEvent) {
		t.Helper()
		w.look(t.Context())
		got := w.events()
		w.notified()
		for i := range got {
			got[i].URI = strings.TrimPrefix(got[i].URI, "file://"+dir+"/")
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	look() // the first look has nothing to compare
	look()
	put(t, dir, "a.ts", "12")
	put(t, dir, "new/e.ts", "1")
	put(t, dir, "c.txt", "12")
	put(t, dir, ".git/x.ts", "12")
	put(t, dir, "node_modules/one/index.ts", "12")
	put(t, dir, "node_modules/two/index.ts", "1")
	put(t, dir, "node_modules/@types/react/index.ts", "1")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	look(
		fileEvent{"a.ts", fileChanged}, fileEvent{"new/e.ts", fileCreated}, fileEvent{"node_modules/@types/react", fileCreated},
		fileEvent{"node_modules/two", fileCreated}, fileEvent{"sub/d.ts", fileDeleted},
	)
	look()
	w.reads = Spec{Files: map[string]string{".ts": "x"}}.reads // one that does not read packages
	look(
		fileEvent{"node_modules/@types/node", fileDeleted}, fileEvent{"node_modules/@types/react", fileDeleted},
		fileEvent{"node_modules/one", fileDeleted}, fileEvent{"node_modules/two", fileDeleted},
	)
}

// A directory that is too large is left alone after a few attempts. A look that was
// cut short by its context does not count, and reports nothing as deleted.
func TestWatchTooLarge(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.ts": "1"})
	w := watch{root: dir, reads: func(string) bool { return true }}
	w.look(t.Context())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * scanFailures {
		w.look(ended)
	}
	put(t, dir, "b.ts", "1")
	w.look(t.Context())
	remove(t, dir, "a.ts")
	w.look(t.Context())
	want := []fileEvent{{toURI(filepath.Join(dir, "a.ts")), fileDeleted}, {toURI(filepath.Join(dir, "b.ts")), fileCreated}}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("what was not told is lost, or more: %s", diff)
	}
	w.notified()
	w.root = filepath.Join(dir, "missing")
	for range scanFailures {
		w.look(t.Context())
	}
	w.root = dir
	put(t, dir, "c.ts", "1")
	w.look(t.Context())
	if got := w.events(); got != nil {
		t.Errorf("it still looks: %v", got)
	}
}
