package pawl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecturePage = "docs/architecture.md"

// A reader follows the names on the page into the code: a file, or a file and a declaration in it.
var (
	fileName    = regexp.MustCompile("`((?:[a-z0-9_]+/)*[a-z0-9_]+\\.go)(?:: ([A-Za-z0-9_.]+))?`")
	packageName = regexp.MustCompile("`((?:internal|fleet|cmd)/[a-z0-9_/-]+)`")
)

// TestArchitectureNamesExist checks that docs/architecture.md names only files, declarations and packages that exist,
// and every package that has a layer.
func TestArchitectureNamesExist(t *testing.T) {
	t.Parallel()
	page := readPage(t, architecturePage)
	files := goFiles(t)
	names := fileName.FindAllStringSubmatch(page, -1)
	if len(names) < 20 {
		t.Errorf("only %d file names found", len(names))
	}
	for _, m := range names {
		i := slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix("/"+f, "/"+m[1]) })
		if i < 0 {
			t.Errorf("%s names %s, which does not exist", architecturePage, m[1])
		} else if m[2] != "" && !slices.Contains(declarations(t, files[i]), m[2]) {
			t.Errorf("%s names %s in %s, which does not declare it", architecturePage, m[2], files[i])
		}
	}
	for _, m := range packageName.FindAllStringSubmatch(page, -1) {
		if info, err := os.Stat(m[1]); err != nil || !info.IsDir() {
			t.Errorf("%s names the package %s, which does not exist", architecturePage, m[1])
		}
	}
	for pkg, layer := range layers {
		if pkg == "." || layer == layerTest || layer == layerDev {
			continue
		}
		if !strings.Contains(page, "`"+pkg+"`") {
			t.Errorf("%s does not name %s: add a line to its table", architecturePage, path.Clean(pkg))
		}
	}
}

// TestNewcomersFindTheCode checks the walk of a prompt and the answers to a newcomer's questions: each names files by
// their whole paths, and each question has one answer.
func TestNewcomersFindTheCode(t *testing.T) {
	t.Parallel()
	page := readPage(t, architecturePage)
	walk, questions := section(t, page, "## The walk of a prompt"), section(t, page, "## Where is …?")
	for _, m := range fileName.FindAllStringSubmatch(walk+questions, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("%s: %v", architecturePage, err)
		}
	}
	const wantSteps, wantQuestions = 10, 20
	steps := regexp.MustCompile(`(?m)^\d+\. .*$`).FindAllString(walk, -1)
	for _, s := range steps {
		if !fileName.MatchString(s) && !strings.Contains(s, "**End.**") {
			t.Errorf("a step of the walk names no file: %s", s)
		}
	}
	rows := regexp.MustCompile(`(?m)^\| .*\? \| .*$`).FindAllString(questions, -1)
	for _, r := range rows {
		if n := len(fileName.FindAllString(r, -1)); n != 1 {
			t.Errorf("%d answers, want 1: %s", n, r)
		}
	}
	if len(steps) < wantSteps || len(rows) < wantQuestions {
		t.Errorf("%d steps and %d questions, want %d and %d at least", len(steps), len(rows), wantSteps, wantQuestions)
	}
}

// TestDecisionsHaveAStatus checks that each decision has a status and a date, and that the list of decisions agrees.
func TestDecisionsHaveAStatus(t *testing.T) {
	t.Parallel()
	header := regexp.MustCompile(`\A# (\d+)\. ([^\n]+)\n\nStatus: (proposed|accepted|superseded by \[\d+\]\([^)]+\))  \nDate: 20\d\d-\d\d-\d\d\n\n`)
	list := readPage(t, "docs/adr/README.md")
	files, err := filepath.Glob("docs/adr/[0-9]*.md")
	if err != nil || len(files) < 20 {
		t.Fatalf("only %d decisions found: %v", len(files), err)
	}
	for _, f := range files {
		m := header.FindStringSubmatch(readPage(t, f))
		if m == nil {
			t.Errorf("%s does not begin with its number and title, its status and its date", f)
			continue
		}
		if row := "| [" + m[1] + "](" + path.Base(filepath.ToSlash(f)) + ") | " + m[2] + " | " + m[3] + " |\n"; !strings.Contains(list, row) {
			t.Errorf("docs/adr/README.md lacks the row %s", row)
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the text from a heading to the next one.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", architecturePage, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// goFiles returns the Go files of the module by their paths from the root.
func goFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"client", "cmd", "dev", "fleet", "internal"} {
		err := fs.WalkDir(os.DirFS("."), dir, func(name string, _ fs.DirEntry, err error) error {
			if path.Ext(name) == ".go" {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// declarations returns the top-level names that a file declares; a method also as Type.Method.
func declarations(t *testing.T, file string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
			if d.Recv != nil {
				names = append(names, receiver(d.Recv.List[0].Type)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
