package pawl_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// maxExported bounds the API that a client has to learn. An interface or helper that
// only Pawl's own packages use belongs to the package that owns it; see layers_test.go.
const maxExported = 190

// TestAPISize counts the exported declarations of the root package as "go doc -short"
// lists them: each type, each function, and each group of constants or variables.
func TestAPISize(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	api, err := doc.NewFromFiles(fset, files, module)
	if err != nil {
		t.Fatal(err)
	}
	count := len(api.Consts) + len(api.Vars) + len(api.Funcs)
	for _, typ := range api.Types {
		count += 1 + len(typ.Consts) + len(typ.Vars) + len(typ.Funcs)
	}
	if count < 100 {
		t.Fatalf("only %d declarations found: is this the root package?", count)
	}
	if count > maxExported {
		t.Errorf("the root package exports %d declarations, at most %d may be: move what no client needs to the package that owns it", count, maxExported)
	}
}
