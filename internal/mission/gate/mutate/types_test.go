package mutate

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkedPackages are packages of this module whose mutants are type-checked.
var checkedPackages = []string{".", "../inventory", "../../../suggest", "../../../strictjson", "../../../humanize", "../../../workspace/ignore"}

// TestGoMutantsCompile checks that nearly all mutants of real code pass the type checker:
// others tell nothing about tests.
func TestGoMutantsCompile(t *testing.T) {
	t.Parallel()
	total, bad := 0, 0
	imports := exportData(t, checkedPackages)
	for _, dir := range checkedPackages {
		check := newChecker(t, dir, imports)
		for _, name := range check.names {
			s, ok := Parse(name, check.texts[name])
			if !ok {
				t.Fatalf("%s is not read", name)
			}
			for i, m := range append(s.Mutants(allLines(s), 3), s.Bodies(allLines(s))...) {
				if dir == "." && i%40 != 0 { // a sample: to check this package takes long
					continue
				}
				total++
				if err := check.with(name, m.Text); err != nil {
					bad++
					t.Logf("%s:%d %s: %v\n  %s", filepath.Join(dir, name), m.Line, m.Operator, err, m.After)
				}
			}
		}
	}
	t.Logf("%d of %d mutants do not compile", bad, total)
	if total < 300 || bad*10 > total {
		t.Errorf("%d of %d mutants do not compile, want at most 10 %% of at least 300", bad, total)
	}
}

// TestGoProbesCompile checks that inserted statements and comments keep the code valid,
// and that Break does not.
func TestGoProbesCompile(t *testing.T) {
	t.Parallel()
	imports := exportData(t, []string{"."})
	check := newChecker(t, ".", imports)
	crashes, code := 0, 0
	for n, name := range check.names {
		s, _ := Parse(name, check.texts[name])
		for _, line := range allLines(s) {
			if s.IsCode(line) {
				code++
			}
			if text, ok := s.Crash(line); ok {
				crashes++
				if (line+n)%40 != 0 { // a sample
					continue
				}
				if err := check.with(name, text); err != nil {
					t.Errorf("%s:%d: %v", name, line, err)
				}
			}
		}
		if n%4 != 0 {
			continue
		}
		text, ok := s.Comment()
		if err := check.with(name, text); !ok || err != nil {
			t.Errorf("%s: the comment is not valid: %v", name, err)
		}
		if text, ok := s.Break(); !ok || check.with(name, text) == nil {
			t.Errorf("%s: Break is valid", name)
		}
	}
	t.Logf("crash statements before %d of %d lines of code", crashes, code)
	if crashes*2 < code {
		t.Errorf("crash statements before %d of %d lines of code, want half", crashes, code)
	}
}

func allLines(s *Source) []int {
	lines := make([]int, s.Lines())
	for i := range lines {
		lines[i] = i + 1
	}
	return lines
}

// checker type-checks a package with one file replaced.
type checker struct {
	fset     *token.FileSet
	importer types.Importer
	names    []string
	texts    map[string][]byte
	files    map[string]*ast.File
}

func newChecker(t *testing.T, dir string, exports map[string]string) *checker {
	t.Helper()
	c := &checker{fset: token.NewFileSet(), texts: map[string][]byte{}, files: map[string]*ast.File{}}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("not found: " + path)
		}
		return os.Open(exports[path])
	})
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		c.names, c.texts[name] = append(c.names, name), text
		if c.files[name], err = parser.ParseFile(c.fset, name, text, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.with(c.names[0], c.texts[c.names[0]]); err != nil {
		t.Fatalf("%s does not compile without a change: %v", dir, err)
	}
	return c
}

func (c *checker) with(name string, text []byte) error {
	changed, err := parser.ParseFile(c.fset, name, text, 0)
	if err != nil {
		return err
	}
	files := []*ast.File{changed}
	for other, file := range c.files {
		if other != name {
			files = append(files, file)
		}
	}
	_, err = (&types.Config{Importer: c.importer}).Check("p", c.fset, files, nil)
	return err
}

// exportData returns the files with the types of all packages that some packages import.
func exportData(t *testing.T, dirs []string) map[string]string {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, localPaths(dirs)...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return exports
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
}

func localPaths(dirs []string) []string {
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		paths[i] = "./" + dir
	}
	return paths
}
