package review

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// repo is a directory with git, apart from the configuration of whoever runs the tests.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "n")
	r.git("config", "user.email", "e@example.org")
	return r
}

func (r repo) git(args ...string) []byte {
	r.t.Helper()
	cmd := exec.Command("git", args...) //nolint:gosec // the tests' own words
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v", args, err)
	}
	return out
}

func (r repo) file(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// change commits what is there, makes the new files, and returns what Parse reads.
func (r repo) change(change func()) []File {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-qm", "old", "--allow-empty")
	change()
	r.git("add", "-A")
	files, err := Parse(r.git(append(DiffArgs(), "HEAD")...))
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

// TestParse: what git says of each kind of change is understood.
func TestParse(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, name := range []string{"a.go", "gone.go", "mode.sh", "moved.go", "moved and changed.go"} {
		r.file(name, name+"\none\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	}
	files := r.change(func() {
		r.file("a.go", "a.go\none\nTWO\nthree\nfour\nfive\nsix\nseven")
		r.git("rm", "-q", "gone.go")
		r.git("mv", "moved.go", "sub")
		r.git("mv", "moved and changed.go", "new name.go")
		r.file("new name.go", "moved and changed.go\none\ntwo\nthree\nfour\nfive\nsix\n7\n")
		r.git("update-index", "--chmod=+x", "mode.sh")
		if err := os.Chmod(filepath.Join(r.dir, "mode.sh"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		r.file("b\t\"x\"\nü", "+++ b/fake\n@@ -1 +1 @@\ndiff --git a/x b/x\n")
		r.file("void", "")
		if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "way")); err != nil {
			t.Fatal(err)
		}
	})
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %q from %q, %d hunks", f.State, f.Path, f.From, len(f.Hunks)))
	}
	want := []string{
		`modified "a.go" from "", 1 hunks`,
		`added "b\t\"x\"\nü" from "", 1 hunks`,
		`deleted "gone.go" from "", 1 hunks`,
		`modified "mode.sh" from "", 0 hunks`,
		`renamed "new name.go" from "moved and changed.go", 1 hunks`,
		`renamed "sub" from "moved.go", 0 hunks`,
		`added "void" from "", 0 hunks`,
		`added "way" from "", 1 hunks`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rows := files[0].Hunks[0].Rows
	if diff := cmp.Diff([]Row{{' ', 2, "one"}, {'-', 0, "two"}, {'+', 3, "TWO"}}, rows[1:4]); diff != "" {
		t.Error(diff)
	}
	for i, want := range map[int]string{3: "modified mode.sh, a program\n", 7: "added way, a link to what its line says\n"} {
		if got := files[i].Show(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	shown := files[1].Show()
	if !strings.HasPrefix(shown, `added b\t"x"\nü`+"\n@@ from line 1\n+     1| +++ b/fake\n") {
		t.Errorf("%q", shown)
	}
}

// TestParseLines: each row has its line's number in the new file, whatever the
// files are called and hold.
func TestParseLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	words := []string{"", "a", "b", " c", "-d", "+e", "@@ -1,2 +1,2 @@", "diff --git a/x b/x", `\ no`, "\ttab", "ü", "\r", "--- a/x", "+++ b/x"}
	text := func() string {
		var lines []string
		for range random.IntN(60) {
			lines = append(lines, words[random.IntN(len(words))])
		}
		return strings.Join(lines, "\n")
	}
	r := newRepo(t)
	names := []string{}
	for i, odd := range strings.Split("plain|a b|tab\tx|quote\"|back\\slash|new\nline|ü|b/b|-x|x y z|a/x b/a/x", "|") {
		for n := range 8 {
			names = append(names, fmt.Sprintf("d%d/%s%d", i, odd, n))
		}
	}
	for _, name := range names {
		r.file(name, text())
	}
	news := map[string][]string{}
	files := r.change(func() {
		for _, name := range names {
			t := text()
			r.file(name, t)
			news[name] = strings.Split(t, "\n")
		}
	})
	seen := 0
	for _, f := range files {
		lines, ok := news[f.Path]
		if !ok {
			t.Errorf("there is no %q", f.Path)
			continue
		}
		for _, h := range f.Hunks {
			for _, row := range h.Rows {
				if row.Line > 0 {
					seen++
					if row.Line > len(lines) || lines[row.Line-1] != row.Text {
						t.Fatalf("%q line %d is not %q", f.Path, row.Line, row.Text)
					}
				}
			}
		}
	}
	if len(files) < len(names)-10 || seen < 1000 {
		t.Errorf("only %d files and %d lines were looked at", len(files), seen)
	}
}

// TestParseRefuses: what is half understood is not taken for a change.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	head := "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	for name, patch := range map[string]string{
		"words":            "hello\n",
		"an unmerged path": "* Unmerged path x\n",
		"one behind files": head + "@@ -1 +1 @@\n-a\n+b\n* Unmerged path y\n",
		"a cut hunk":       head + "@@ -1,3 +1,3 @@\n a\n",
		"too many rows":    head + "@@ -1 +1 @@\n-a\n-b\n",
		"a row of nothing": head + "@@ -1 +1 @@\n?a\n",
		"no numbers":       head + "@@ what @@\n",
		"no path":          "diff --git a/x b/yy\nindex 1..2\n",
		"another prefix":   "diff --git a/x b/x\n--- i/x\n+++ w/x\n",
		"a bad quote":      "diff --git a/x b/x\n--- a/x\n+++ \"b/x\n",
	} {
		if files, err := Parse([]byte(patch)); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, files, err)
		}
	}
	if files, err := Parse(nil); len(files) > 0 || err != nil {
		t.Errorf("%+v, %v", files, err)
	}
}

// hidden is a change that calls its own code binary.
func hidden(t *testing.T) []File {
	r := newRepo(t)
	r.file("a.go", "package a\n")
	return r.change(func() {
		r.file("a.go", "package a\n\nfunc init() { backdoor() }\n")
		r.file(".gitattributes", "*.go binary\n")
	})
}

func TestAttributesHideNothing(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, f := range hidden(t) {
		all.WriteString(f.Show())
	}
	if !strings.Contains(all.String(), "+     3| func init() { backdoor() }") {
		t.Error(all.String())
	}
}

// TestShow: what does not show is written as its code.
func TestShow(t *testing.T) {
	t.Parallel()
	files, err := Parse([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+if admin \u202e{ \x1b[2J\u200b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "modified x\n@@ from line 1\n-      | a\n+     1| if admin \\u{202e}{ \\u{1b}[2J\\u{200b}}\n"
	if diff := cmp.Diff(want, files[0].Show()); diff != "" {
		t.Error(diff)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	binary := File{Path: "b", Size: 10, Hunks: []Hunk{{Rows: []Row{{'+', 1, "a\x00"}}}}}
	shown, left := choose([]File{{Path: "a", Size: 60}, binary, {Path: "c", Size: 101}, {Path: "d", Size: 50}, {Path: "e", Size: 40}}, 100, 100)
	if diff := cmp.Diff([]File{{Path: "a", Size: 60}, {Path: "e", Size: 40}}, shown); diff != "" {
		t.Error(diff)
	}
	want := []Left{{"b", "binary file"}, {"c", "its diff is too large (101 bytes, the limit per file is 100)"}, {"d", "the change is too large (the limit is 100 bytes)"}}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}

// TestSubmodules: one that a change adds, moves or takes away is named.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	link := func(id, path string) {
		r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(id, 40)+","+path)
	}
	r.file("f", "f\n")
	r.git("add", "f")
	link("1", "moved")
	link("1", "gone")
	link("1", "same")
	r.git("commit", "-qm", "old")
	link("2", "moved")
	link("2", "new mod")
	r.git("rm", "-q", "--cached", "gone")
	r.file("f", "g\n")
	r.git("add", "f")
	r.git("commit", "-qm", "new")
	var paths []string
	for _, l := range Submodules(r.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", "HEAD~1", "HEAD")) {
		paths = append(paths, l.Path)
	}
	if diff := cmp.Diff([]string{"gone", "moved", "new mod"}, paths); diff != "" {
		t.Error(diff)
	}
}
