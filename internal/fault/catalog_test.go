package fault_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/errors.md")

const (
	root = "../.."
	page = root + "/docs/reference/errors.md"
)

// areas are the sections of the page, with the directories whose errors they list. The longest prefix wins.
var areas = []struct {
	title string
	dirs  []string
}{
	{"Command line and configuration", []string{"cmd", "internal/cli", "internal/app", "internal/config", "internal/suggest"}},
	{"Sessions", []string{".", "internal/agent", "internal/service", "internal/store", "internal/transcript", "internal/proc", "internal/humanize", "internal/strictjson"}},
	{"Models", []string{"internal/model"}},
	{"Missions, gate and review", []string{"internal/mission", "internal/cli/mission", "internal/cli/gate"}},
	{"Sandbox, permissions and trust", []string{"internal/security", "internal/cli/security"}},
	{"Extensions: agents, commands, skills, hooks and MCP", []string{"internal/extension", "internal/hook", "internal/mcp", "internal/cli/mcp", "internal/cli/extension"}},
	{"Files and git", []string{"internal/workspace", "internal/git"}},
	{"Tools", []string{"internal/tool"}},
	{"Front ends", []string{"internal/frontend", "client"}},
	{"Server, teams and fleet", []string{"internal/cli/serve", "internal/service/access", "internal/api", "internal/bus", "internal/telemetry", "fleet"}},
}

// An entry is an error with its hint.
type entry struct{ area, text, hint string }

// TestCatalog checks that docs/reference/errors.md lists every error that has a hint, as the code creates it.
func TestCatalog(t *testing.T) {
	t.Parallel()
	want := catalog(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/reference/errors.md is stale: run 'make generate' and commit the result")
	}
}

func catalog(t *testing.T) string {
	t.Helper()
	var entries []entry
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "dist", "bin", "dev", "oracle", "clients", "test"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, e := range hinted(file) {
			e.area = areaOf(path.Dir(name))
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.hint, b.hint)) })
	entries = slices.Compact(entries)
	var out strings.Builder
	out.WriteString("# Errors\n\nEvery error that has a next step, generated from the code. `…` stands for what differs: a name, a number or another error.\n")
	for _, a := range areas {
		head := fmt.Sprintf("\n## %s\n\n| Error | What to do |\n|---|---|\n", a.title)
		for _, e := range entries {
			if e.area == a.title {
				fmt.Fprintf(&out, "%s| %s | %s |\n", head, cell(e.text), cell(e.hint))
				head = ""
			}
		}
	}
	return out.String()
}

// hinted returns the errors that a file creates with a hint: fault.New(class, text, …).Hint(hint, …).
func hinted(file *ast.File) []entry {
	var entries []entry
	ast.Inspect(file, func(n ast.Node) bool {
		hint, ok := method(n, "Hint")
		if !ok || len(hint.Args) == 0 {
			return true
		}
		created, ok := method(hint.Fun.(*ast.SelectorExpr).X, "New")
		if !ok || len(created.Args) < 2 {
			return true
		}
		entries = append(entries, entry{text: literal(created.Args[1]), hint: literal(hint.Args[0])})
		return true
	})
	return entries
}

// method returns a call of a method or function of this name.
func method(n ast.Node, name string) (*ast.CallExpr, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return call, ok && selector.Sel.Name == name
}

var verbs = regexp.MustCompile(`["']?%[-+#.0-9]*[a-z]["']?`)

// literal returns the text of a constant expression, with … for its verbs and for what is not a literal.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return verbs.ReplaceAllString(text, "…")
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "…"
}

func areaOf(dir string) string {
	best, title := -1, ""
	for _, a := range areas {
		for _, d := range a.dirs {
			if (dir == d || strings.HasPrefix(dir, d+"/") || d == "." && dir == ".") && len(d) > best {
				best, title = len(d), a.title
			}
		}
	}
	return title
}

// cell returns a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}
