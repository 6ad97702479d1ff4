package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/service/project"
)

// age makes files of the directory older, the first the least.
func (w *testEnv) age(names ...string) {
	w.Helper()
	for i, name := range names {
		at := time.Unix(1_700_000_000-int64(i), 0)
		if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *testEnv) find(query string, limit int) []string {
	w.Helper()
	paths, err := w.Files(w.Context(), w.dir, query, limit)
	if err != nil {
		w.Fatal(err)
	}
	return paths
}

func TestFiles(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	names := []string{"b.go", "a.go", "sub/c.go", ".github/ci.yml"}
	for _, name := range names {
		w.put(w.dir, map[string]string{name: "x"})
	}
	w.put(w.dir, map[string]string{
		".gitignore": "ignored/\n*.log\n", "ignored/x.go": "x", "sub/a.log": "x", ".git/config": "x",
		"bad\x1b[2J.go": "x", "line\nbreak.go": "x", "\xff.go": "x", "left\u202eog.go": "x",
	})
	w.age(append(names, ".gitignore")...)
	for query, want := range map[string][]string{
		"":       append(names, ".gitignore"),
		"go":     {"b.go", "a.go", "sub/c.go", ".gitignore"},
		"s c":    {"sub/c.go"},
		"CI":     {".github/ci.yml"},
		"ignore": {".gitignore"},
		"log":    nil,
		"zz":     nil,
		"\x00":   nil,
	} {
		if diff := cmp.Diff(want, w.find(query, 0), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	if got := w.find("", 2); len(got) != 2 {
		t.Errorf("two were asked for: %q", got)
	}
}

// What comes and goes is seen, a little later.
func TestFilesAnew(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.put(w.dir, map[string]string{"old": "x"})
	if got := w.find("", 0); len(got) != 1 {
		t.Fatalf("there are %q", got)
	}
	w.put(w.dir, map[string]string{"new": "x"})
	if got := w.find("", 0); len(got) != 1 {
		t.Errorf("it was looked again at once: %q", got)
	}
	w.now = w.now.Add(time.Minute)
	if got := w.find("", 0); len(got) != 1 {
		t.Errorf("somebody had to wait for %q", got)
	}
	w.Listed()
	if got := w.find("n", 0); len(got) != 1 {
		t.Errorf("there is no new file: %q", got)
	}
}

// Each directory has its files, however many directories there are.
func TestFilesOfManyFolders(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	for range 2 {
		for i := range 20 {
			dir := filepath.Join(w.dir, fmt.Sprint(i))
			w.put(dir, map[string]string{fmt.Sprintf("file%d", i): "x"})
			got, err := w.Files(t.Context(), dir, "f", 0)
			if diff := cmp.Diff([]string{fmt.Sprintf("file%d", i)}, got); diff != "" || err != nil {
				t.Errorf("%v: %s", err, diff)
			}
		}
	}
	if n := w.Folders(); n != 8 {
		t.Errorf("the files of %d folders are kept", n)
	}
}

// The better match comes first.
func TestRanking(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"app":     {"internal/tui/app.go", "internal/tui/appendix.go", "internal/tui/wrapper.go", "a/p/p.go"},
		"tuiapp":  {"internal/tui/app.go", "internal/tui/snapper.go"},
		"tui/app": {"internal/tui/app.go", "internal/tuitest/app.go"},
		"lt":      {"layers_test.go", "alt.go", "internal/x/little/zq.go"},
		"makefil": {"Makefile", "docs/makefiles.md"},
		"fb":      {"src/FooBar.java", "src/fob.java"},
		"readme":  {"README.md", "docs/README.md", "a/readme_first/of/all.txt"},
		"main":    {"cmd/main.go", "cmd/domain.go", "main/x/y/z.go"},
	} {
		t.Run(query, func(t *testing.T) {
			for range 2 { // whatever the order
				if diff := cmp.Diff(want, project.Best(want, query, 10)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				slices.Reverse(want)
				got := project.Best(want, query, 10)
				slices.Reverse(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the other way round (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Of equals the newer comes first, and a new one may outdo an old one.
func TestRankingByAge(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 200 {
		paths = append(paths, fmt.Sprintf("pkg%03d/x.go", i))
	}
	if diff := cmp.Diff(paths[:30], project.Best(paths, "x", 30)); diff != "" {
		t.Error(diff)
	}
	paths = append(paths, "x_old.go")
	if got := project.Best(paths, "x", 300); slices.Index(got, "x_old.go") < 50 {
		t.Errorf("an old file is at %d", slices.Index(got, "x_old.go"))
	}
}

// What fits is found, what does not is not, and nothing else is made of it.
func TestMatches(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abAB/._-äÄİ日 ")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(letters, 0, 30, func(s string) string { return s }).Draw(t, "paths")
		query := letters.Draw(t, "query")
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		var want []string
		for _, path := range paths {
			if fits(path, query) {
				want = append(want, path)
			}
		}
		got := project.Best(paths, query, len(paths)+1)
		if diff := cmp.Diff(want, got, sorted, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(got[:min(limit, len(got))], project.Best(paths, query, limit), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the first %d are not the first of all: %s", limit, diff)
		}
	})
}

// fits is what a match means, plainly.
func fits(path, query string) bool {
	lower := strings.ToLower(path)
	if len(lower) != len(path) {
		lower = path
	}
	for _, b := range []byte(strings.ToLower(strings.ReplaceAll(query, " ", ""))) {
		_, rest, ok := strings.Cut(lower, string([]byte{b}))
		if !ok {
			return false
		}
		lower = rest
	}
	return true
}

func BenchmarkBest(b *testing.B) {
	var paths []string
	for i := range 100_000 {
		paths = append(paths, fmt.Sprintf("packages/module%d/src/components/Thing%dView.test.tsx", i%997, i))
	}
	files := project.NewFiles(paths)
	for _, query := range []string{"", "t", "thing99", "pmsctv", "module12/thing", "zzzz"} {
		b.Run("query="+query, func(b *testing.B) {
			for b.Loop() {
				files.Best(query, 50)
			}
		})
	}
}
