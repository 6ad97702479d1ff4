package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// age sets when files were changed, so many seconds ago.
func age(t *testing.T, dir string, seconds map[string]int) {
	t.Helper()
	now := time.Now()
	for name, s := range seconds {
		at := now.Add(-time.Duration(s) * time.Second)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{
		".gitignore": "/out/\n", "a.go": "", "b.ts": "", "src/c.go": "", "src/deep/d.tsx": "", "src/deep/e.go": "", "out/f.go": "",
		".github/ci.yml": "", ".git/x.go": "", "src/link.go": "->c.go", "directory.go/x": "", "src/[id]/g.go": "", "src/{b}/h.go": "",
	})
	tests := []struct {
		name, dir, pattern string
		want               []string
	}{
		{"a name in any directory", ".", "*.go", []string{"a.go", "src/[id]/g.go", "src/c.go", "src/deep/e.go", "src/link.go", "src/{b}/h.go"}},
		{"the same below a directory", "src/deep", "*.go", []string{"src/deep/e.go"}},
		{"at the top only", ".", "./*.go", []string{"a.go"}},
		{"everywhere", ".", "**/*.go", []string{"a.go", "src/[id]/g.go", "src/c.go", "src/deep/e.go", "src/link.go", "src/{b}/h.go"}},
		{"in a directory", ".", "src/*.go", []string{"src/c.go", "src/link.go"}},
		{"below a directory", ".", "src/**/*.{ts,tsx}", []string{"src/deep/d.tsx"}},
		{"a whole path", ".", "src/c.go", []string{"src/c.go"}},
		{"a plain name", ".", "c.go", []string{"src/c.go"}},
		{"an escaped directory", ".", `src/\[id\]/*.go`, []string{"src/[id]/g.go"}},
		{"an escaped brace", ".", `src/\{b\}/*.go`, []string{"src/{b}/h.go"}},
		{"hidden", ".", "*.yml", []string{".github/ci.yml"}},
		{"a named directory, though ignored", ".", "out/*", []string{"out/f.go"}},
		{"not so if only matched", ".", "o*/*", nil},
		{"a class", ".", "[ab].*", []string{"a.go", "b.ts"}},
		{"nothing", ".", "*.rs", nil},
	}
	for _, test := range tests {
		base, below := names(t, test.pattern).Split()
		found, err := Glob(t.Context(), open(t, dir), filepath.Join(test.dir, base), below, wide)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, slices.Sorted(slices.Values(found.Paths))); diff != "" || found.Count != len(test.want) {
			t.Errorf("%s: %d found %s", test.name, found.Count, diff)
		}
	}
}

func TestGlobOrder(t *testing.T) {
	t.Parallel()
	files, seconds := map[string]string{}, map[string]int{}
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("d%d/f%03d", i%7, i)
		files[name], seconds[name] = "", i/3 // three of an age
		want = append(want, name)
	}
	slices.SortFunc(want, func(a, b string) int {
		if c := seconds[a] - seconds[b]; c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	dir := folderOf(t, files)
	age(t, dir, seconds)
	limits := wide
	limits.Results = 20
	for range 20 {
		found, err := Glob(t.Context(), open(t, dir), ".", Names{}, limits)
		if diff := cmp.Diff(Paths{Paths: want[:20], Count: 300}, found); diff != "" || err != nil {
			t.Fatalf("%v %s", err, diff)
		}
	}
}

func TestWrongNames(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"[a": "malformed", "{a": "malformed", `a\`: "malformed", "a]": "", "a}": "malformed",
		strings.Repeat("a", nameBytes+1): "too long", strings.Repeat("{a,b}", nameBraces+1): "too long", strings.Repeat("{a,b}", nameBraces): "",
	} {
		_, err := ParseNames(text)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want %q", text, err, says)
		}
	}
}

func TestTop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.Int()).Draw(t, "all")
		first := top[int]{limit: rapid.IntRange(0, 20).Draw(t, "limit"), compare: func(a, b int) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }}
		for _, v := range all {
			first.add(v)
			if len(first.kept) > 2*first.limit+16 {
				t.Fatalf("%d are held", len(first.kept))
			}
		}
		slices.SortFunc(all, first.compare)
		got := first.values()
		if !slices.Equal(all[:min(len(all), first.limit)], got) {
			t.Fatal(got)
		}
	})
}

func TestShowPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a/b.go": "a/b.go", "日本 x": "日本 x", "a\nb": `"a\nb"`, "\xff": `"\xff"`, "\x1b[31m": `"\x1b[31m"`, "\u202e": `"\u202e"`,
	} {
		if got := ShowPath(path); got != want {
			t.Errorf("%q is shown as %s, want %s", path, got, want)
		}
	}
}
