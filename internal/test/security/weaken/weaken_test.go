package weaken

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var off = regexp.MustCompile(`defense\.Off\("([a-z.]+)"\)`)

// TestEditsApply fails if a guarded line was changed without its edit: adjust
// the edit that the message names, so that it makes the same defense optional.
func TestEditsApply(t *testing.T) {
	t.Parallel()
	edited, err := Apply(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	defenses, err := Defenses()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, text := range edited {
		for _, m := range off.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
		}
	}
	for _, name := range defenses {
		if !found[name] {
			t.Errorf("no edit asks defense.Off(%q)", name)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("the edit that asks defense.Off(%q) does not name it", name)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := parse("a.diff", "@@ x/y.go: one,two\nimport \"os\"\n \ta\n\n-\tb\n+\tc\n+\n\n@@ z.go: three\n+\td\n \te\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Edit{
		{At: "a.diff:1", File: "x/y.go", Defenses: []string{"one", "two"}, Imports: []string{`"os"`}, Old: "\ta\n\n\tb\n", New: "\ta\n\n\tc\n\n"},
		{At: "a.diff:9", File: "z.go", Defenses: []string{"three"}, Old: "\te\n", New: "\td\n\te\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"+x\n", "@@ x.go\n", "@@ x.go: one\nx\n"} {
		if edits, err := parse("a.diff", text); err == nil {
			t.Errorf("%q: %+v", text, edits)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	const text = "// Package x is x.\npackage x\n\nfunc f() {\n\ta()\n\tb()\n\tb()\n}\n"
	for _, test := range []struct {
		name  string
		edits []Edit
		want  string
		fault string
	}{
		{
			name:  "two edits and an import",
			edits: []Edit{{Old: "}\n", New: "\tc()\n}\n"}, {Old: "\ta()\n", New: "\tos.Exit(1)\n", Imports: []string{`"os"`}}},
			want: `// Package x is x.
package x; import ("github.com/pawl-dev/pawl/internal/test/security/weaken/defense"; "os")

func f() {
	os.Exit(1)
	b()
	b()
	c()
}
`,
		},
		{name: "missing", edits: []Edit{{Old: "\tc()\n"}}, fault: "not 0 times"},
		{name: "twice", edits: []Edit{{Old: "\tb()\n"}}, fault: "not 2 times"},
		{name: "within a line", edits: []Edit{{Old: "a()\n"}}, fault: "not 0 times"},
		{name: "empty", edits: []Edit{{New: "\ta()\n"}}, fault: "must occur once"},
		{name: "overlap", edits: []Edit{{Old: "\ta()\n\tb()\n"}, {Old: "\ta()\n"}}, fault: "overlaps"},
	} {
		got, faults := apply(text, test.edits)
		switch all := strings.Join(faults, "\n"); {
		case test.fault == "" && (got != test.want || all != ""):
			t.Errorf("%s: %s\n%s", test.name, all, got)
		case !strings.Contains(all, test.fault):
			t.Errorf("%s: got %q, want %q", test.name, all, test.fault)
		}
	}
}

// TestNoSwitches: product code has no switches of its own.
func TestNoSwitches(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	for _, dir := range []string{"cmd", "fleet", "internal", "client"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"testdata", "security/weaken"}, d.Name()):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "internal/test/"):
				return nil
			}
			text, err := os.ReadFile(path)
			if off.Match(text) {
				t.Errorf("%s has a switch: list it in internal/test/security/weaken/edits instead", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
