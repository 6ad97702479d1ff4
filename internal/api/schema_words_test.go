package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const wordsFile = "schema_words.json"

// TestWordsAreTheComments checks that the descriptions in the document are the
// comments of the code.
func TestWordsAreTheComments(t *testing.T) {
	t.Parallel()
	all := map[string]words{}
	readWords(t, all, "pawl", os.DirFS("../.."))
	readWords(t, all, "transcript", os.DirFS("../transcript"))
	readWords(t, all, "manage", os.DirFS("../../manage"))
	readWords(t, all, "api", os.DirFS("."))
	text, err := json.MarshalIndent(sent(t, all), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(wordsFile, text, 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(wordsText), string(text)); diff != "" {
		t.Errorf("run 'go test ./internal/api -update' twice, for the words and then the document: %s", diff)
	}
}

// sent keeps the types that go over HTTP.
func sent(t *testing.T, all map[string]words) map[string]words {
	t.Helper()
	used := map[string]bool{}
	for _, r := range Routes {
		collect(used, r.In)
		collect(used, r.Out)
	}
	collect(used, typeOf[Fault]())
	for _, p := range parts {
		collect(used, reflect.TypeOf(p.part))
	}
	for _, k := range sortedKinds() {
		body, _, err := zeroBody(k)
		if err != nil {
			t.Fatal(err)
		}
		collect(used, reflect.TypeOf(body))
	}
	maps.DeleteFunc(all, func(name string, w words) bool {
		return !used[name] || w.What == "" && len(w.Fields) == 0 && len(w.Values) == 0
	})
	return all
}

// collect adds a type and the types that it consists of.
func collect(used map[string]bool, g reflect.Type) {
	if g == nil || used[g.String()] {
		return
	}
	switch g.Kind() { //nolint:exhaustive // the others are made of nothing
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(used, g.Elem())
	case reflect.Struct:
		used[g.String()] = true
		for i := range g.NumField() {
			collect(used, g.Field(i).Type)
		}
	default:
		used[g.String()] = true
	}
}

// readWords reads the comments of a package's types.
func readWords(t *testing.T, all map[string]words, pkg string, dir fs.FS) {
	t.Helper()
	names, err := fs.Glob(dir, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				readDecl(all, pkg, d)
			}
		}
	}
}

func readDecl(all map[string]words, pkg string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			name := pkg + "." + s.Name.Name
			w := all[name] // its constants may have come before it
			w.What = plainWords(d.Doc)
			if st, ok := s.Type.(*ast.StructType); ok {
				w.Fields = fieldComments(st)
			}
			all[name] = w
		case *ast.ValueSpec:
			if name := typeName(pkg, s.Type); d.Tok == token.CONST && name != "" {
				w := all[name]
				w.Values = append(w.Values, literals(s)...)
				all[name] = w
			}
		}
	}
}

func fieldComments(st *ast.StructType) map[string]string {
	fields := map[string]string{}
	for _, f := range st.Fields.List {
		text := plainWords(f.Comment)
		if text == "" {
			text = plainWords(f.Doc)
		}
		for _, name := range f.Names {
			if text != "" {
				fields[name.Name] = text
			}
		}
	}
	return fields
}

// typeName returns the name of a type that is written as T or pkg.T, or "".
func typeName(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

func literals(s *ast.ValueSpec) []string {
	var list []string
	for _, v := range s.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				list = append(list, text)
			}
		}
	}
	return list
}

var docLink = regexp.MustCompile(`\[([A-Za-z.]+)\]`)

// plainWords returns a comment's text on one line, without links.
func plainWords(c *ast.CommentGroup) string {
	return docLink.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "$1")
}
