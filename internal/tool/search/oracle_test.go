package search

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// ignoring is what both git and ripgrep make of a workspace.
var ignoring = struct{ git, rg []string }{
	git: []string{"git", "ls-files", "--others", "--exclude-standard", "-z"},
	rg: []string{
		"rg", "--no-config", "--files", "--hidden", "--null", "--no-messages",
		"--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--glob=!.git",
	},
}

var (
	entryNames = rapid.SampledFrom([]string{"a", "b", "ab", "c.o", "d.o", ".h", "a b", "#a", "!b", "日"})
	nameGlobs  = rapid.SampledFrom([]string{"a", "b", "ab", "c.o", ".h", "*", "a*", "*b", "*.o", "?", "?b", "[ab]", "[!a]", "[a-c].o", `\a`, `\#a`, `\!b`, "a b", "日", "**"})
)

// ignoreFile draws an ignore file. Left out is what git and its own manual, or
// git and ripgrep, see differently: ** beside other characters, a slash in a class,
// broken patterns, white space at the end.
func ignoreFile(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "comment") == 0 {
			return rapid.SampledFrom([]string{"", "# a", "#a"}).Draw(t, "blank")
		}
		line := strings.Join(rapid.SliceOfN(nameGlobs, 1, 3).Draw(t, "parts"), "/")
		if rapid.IntRange(0, 3).Draw(t, "anchored") == 0 {
			line = "/" + line
		}
		if rapid.IntRange(0, 3).Draw(t, "include") == 0 {
			line = "!" + line
		}
		if rapid.IntRange(0, 3).Draw(t, "folders") == 0 {
			line += "/"
		}
		return line
	}), 0, 4).Draw(t, "file")
	return strings.Join(lines, "\n") + "\n"
}

// drawTree draws a workspace with ignore files of the given names in some directories.
func drawTree(t *rapid.T, ignoreNames ...string) map[string]string {
	files := map[string]string{}
	folders := []string{""}
	for range rapid.IntRange(0, 5).Draw(t, "folders") {
		parent := rapid.SampledFrom(folders).Draw(t, "parent")
		folders = append(folders, parent+entryNames.Draw(t, "directory")+"/")
	}
	for _, f := range folders {
		files[f] = ""
		for _, name := range rapid.SliceOfNDistinct(entryNames, 0, 5, rapid.ID).Draw(t, "names") {
			if !slices.Contains(folders, f+name+"/") {
				files[f+name] = "x\n"
			}
		}
		for _, name := range ignoreNames {
			if f == "" || rapid.IntRange(0, 2).Draw(t, "ignores") == 0 {
				files[f+name] = ignoreFile(t)
			}
		}
	}
	delete(files, "")
	return files
}

// walked returns the files that a walk visits.
func walked(t *rapid.T, dir string) []string {
	ws, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	found, err := Glob(t.Context(), ws, ".", Names{}, wide)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(found.Paths))
}

func agree(t *rapid.T, args []string, ignoreNames ...string) {
	dir, err := os.MkdirTemp("", "pawl-search")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files := drawTree(t, ignoreNames...)
	files[".git/info/exclude"] = ignoreFile(t)
	files[".git/HEAD"], files[".git/objects/"], files[".git/refs/"] = "ref: refs/heads/main\n", "", "" // a repository
	fill(t, dir, files)
	want := list(output(t, dir, args...))
	if diff := cmp.Diff(want, walked(t, dir)); diff != "" {
		t.Fatalf("%s says otherwise: %s\n%q", args[0], diff, files)
	}
}

func TestGitIgnoresTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { agree(t, ignoring.git, ".gitignore") })
}

func TestRipgrepIgnoresTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { agree(t, ignoring.rg, ".gitignore", ".ignore") })
}
