package search

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// grep searches with no bounds to speak of.
func grep(t *testing.T, dir string, engine Engine, q Query) Matches {
	t.Helper()
	found, err := Grep(t.Context(), open(t, dir), dir, engine, q, wide)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// each runs a test with each engine.
func each(t *testing.T, test func(t *testing.T, engine Engine)) {
	t.Helper()
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) { test(t, engine) })
	}
}

// paths returns the paths of files, and how many lines match in each.
func paths(files []File) map[string]int {
	counts := map[string]int{}
	for _, f := range files {
		counts[f.Path] = f.Count
	}
	return counts
}

func TestWhichFiles(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{
		".gitignore":        "/build/\n*.log\n",
		"a.go":              "needle\n",
		"b.txt":             "needle\nneedle\n",
		"none.go":           "hay\n",
		"x.log":             "needle\n",
		"build/gen.go":      "needle\n",
		"build/deep/gen.go": "needle\n",
		"sub/.gitignore":    "!keep.log\nsecret\n",
		"sub/keep.log":      "needle\n",
		"sub/secret":        "needle\n",
		"sub/c.go":          "needle\n",
		"sub/.ignore":       "plain\n",
		"sub/plain":         "needle\n",
		"sub/build/x.go":    "needle\n",
		".github/ci.yml":    "needle\n",
		".git/config":       "needle\n",
		"mod/.git":          "needle\n",
		"mod/d.go":          "needle\n",
		"link":              "->a.go",
		"directory":         "->sub",
		"loop":              "->.",
		"out":               "->/etc",
		"dangling":          "->nothing",
		"binary":            "needle\x00\n",
		"late":              "needle\n" + strings.Repeat("x", binaryBytes) + "\x00\n",
		"utf16":             "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
		"empty":             "",
		"no-break":          "needle",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{
		".github/ci.yml": 1, "a.go": 1, "b.txt": 2, "late": 1, "mod/d.go": 1, "no-break": 1, "sub/build/x.go": 1, "sub/c.go": 1, "sub/keep.log": 1,
	}
	tests := []struct {
		name, path, include string
		want                map[string]int
	}{
		{"everything", ".", "", all},
		{"by name", ".", "*.go", map[string]int{"a.go": 1, "mod/d.go": 1, "sub/build/x.go": 1, "sub/c.go": 1}},
		{"by alternatives", ".", "*.{yml,txt}", map[string]int{".github/ci.yml": 1, "b.txt": 2}},
		{"by path", ".", "sub/*.go", map[string]int{"sub/c.go": 1}},
		{"by path at the top", ".", "./*.go", map[string]int{"a.go": 1}},
		{"by path, deep", ".", "**/build/*.go", map[string]int{"sub/build/x.go": 1}},
		{"a directory", "sub", "", map[string]int{"sub/build/x.go": 1, "sub/c.go": 1, "sub/keep.log": 1}},
		{"a directory, by path", "sub", "build/*", map[string]int{"sub/build/x.go": 1}},
		{"an ignored directory that is named", "build", "", map[string]int{"build/deep/gen.go": 1, "build/gen.go": 1}},
		{"a directory in an ignored one", "build/deep", "", map[string]int{"build/deep/gen.go": 1}},
		{"git's directory, named", ".git", "", map[string]int{".git/config": 1}},
		{"a file", "b.txt", "", map[string]int{"b.txt": 2}},
		{"a file, whatever include says", "b.txt", "*.go", map[string]int{"b.txt": 2}},
		{"an ignored file that is named", "x.log", "", map[string]int{"x.log": 1}},
		{"a link to a file, named", "link", "", map[string]int{"a.go": 1}},
		{"a link to a directory, named", "directory", "", map[string]int{"sub/build/x.go": 1, "sub/c.go": 1, "sub/keep.log": 1}},
		{"a binary file, named", "binary", "", map[string]int{}},
	}
	each(t, func(t *testing.T, engine Engine) {
		for _, test := range tests {
			found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: test.path, Names: names(t, test.include)})
			if diff := cmp.Diff(test.want, paths(found.Files)); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
			if diff := cmp.Diff(Gaps{}, found.Gaps); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
		}
		for path, says := range map[string]string{
			"missing": "no such file",
			"out":     "leads outside the workspace",
			"pipe":    "pipe is neither a file nor a directory",
		} {
			_, err := Grep(t.Context(), open(t, dir), dir, engine, Query{Pattern: pattern(t, "x", Options{}), Path: path}, wide)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v, want %q", path, err, says)
			}
		}
	})
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(strings.Repeat("d", 250)+"/", 20)
	odd := []string{"-", "--", "-e", "--pre=sh", "a\nb", "a\n./x\x01", "\xff\xfe", " ", "a:1", "*", "日本"}
	files := map[string]string{}
	want := map[string]int{}
	for _, name := range odd {
		files[name] = "needle\n"
		want[name] = 1
	}
	dir := folderOf(t, files)
	top := open(t, dir)
	if err := top.WriteFile(deep+"f", []byte("needle\n")); err != nil { // no name of it can be opened
		t.Fatal(err)
	}
	want[deep+"f"] = 1
	each(t, func(t *testing.T, engine Engine) {
		found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: ".", Lines: true})
		if diff := cmp.Diff(want, paths(found.Files)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLinesAndContext(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{
		"a": "1\nneedle 2\n3\n4\n5\nneedle 6\r\nneedle 7\n8\n9\nneedle 10",
		"b": "needle\n",
		"c": "needle\n\n\n",
	})
	hit := func(n int, text string) Line { return Line{Number: n, Text: text, Hit: true} }
	line := func(n int, text string) Line { return Line{Number: n, Text: text} }
	tests := []struct {
		context int
		want    []Line
	}{
		{0, []Line{hit(2, "needle 2"), hit(6, "needle 6"), hit(7, "needle 7"), hit(10, "needle 10")}},
		{1, []Line{
			line(1, "1"), hit(2, "needle 2"), line(3, "3"), line(5, "5"), hit(6, "needle 6"), hit(7, "needle 7"), line(8, "8"), line(9, "9"), hit(10, "needle 10"),
		}},
		{3, []Line{
			line(1, "1"), hit(2, "needle 2"), line(3, "3"), line(4, "4"), line(5, "5"), hit(6, "needle 6"), hit(7, "needle 7"), line(8, "8"), line(9, "9"), hit(10, "needle 10"),
		}},
	}
	each(t, func(t *testing.T, engine Engine) {
		for _, test := range tests {
			found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "a", Lines: true, Context: test.context})
			want := []File{{Path: "a", Count: 4, Lines: test.want}}
			if diff := cmp.Diff(want, found.Files); diff != "" {
				t.Errorf("context %d: %s", test.context, diff)
			}
		}
		found := grep(t, dir, engine, Query{Pattern: pattern(t, "^needle$", Options{}), Path: ".", Lines: true, Context: 2})
		want := Matches{Files: []File{
			{Path: "b", Count: 1, Lines: []Line{hit(1, "needle")}},
			{Path: "c", Count: 1, Lines: []Line{hit(1, "needle"), line(2, ""), line(3, "")}},
		}, FileCount: 2, LineCount: 2, Searched: 3}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		at    int
		chars int
		want  string
	}{
		{"short", 0, 8, "short"},
		{"12345678", 0, 8, "12345678"},
		{"123456789", 0, 8, "12345678…"},
		{"123456789", 2, 8, "12345678…"},
		{"123456789", 3, 8, "…23456789"},
		{"1234567890x", 10, 8, "…4567890x"},
		{"日本語日本語日本語", 0, 8, "日本語日本語日本…"},
		{"日本語日本語日本語", 12, 8, "…本語日本語日本語"},
		{"\xff\xffab", 2, 8, "\uFFFDab"},
	} {
		if got := cut([]byte(test.text), test.at, test.chars); got != test.want {
			t.Errorf("cut(%q, %d, %d) = %q, want %q", test.text, test.at, test.chars, got, test.want)
		}
	}
}
