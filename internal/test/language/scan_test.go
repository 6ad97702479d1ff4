package language

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A finding is a place in the repository that breaks a rule.
type finding struct {
	rule    *rule
	file    string // relative to the module's root
	line    int    // 0 for a file name
	text    string // the identifier, or the words that a pattern matches
	literal bool   // it is in a string literal
}

// skipped are directories whose texts are not ours to change: generated files, data of tests, and dependencies.
var skipped = []string{"testdata", "node_modules", "dist", "bin", "vendor"}

// scan returns what breaks the rules in the Go files, the Markdown files and the file names below root.
func scan(t *testing.T, root fs.FS) []finding {
	t.Helper()
	var found []finding
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		found = append(found, fileNameFindings(name)...)
		switch path.Ext(name) {
		case ".go":
			src, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			more, err := goFindings(name, src)
			found = append(found, more...)
			return err
		case ".md":
			src, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			found = append(found, proseFindings(name, string(withoutCode(src)), 1)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fileNameFindings checks the last element of a path; directories are package names and are checked as such.
func fileNameFindings(file string) []finding {
	base, _, _ := strings.Cut(path.Base(file), ".")
	var found []finding
	for i := range rules {
		r := &rules[i]
		if r.applies(file) && (r.matchesFile(base) || r.matchesIdentifier(base)) {
			found = append(found, finding{rule: r, file: file, text: base})
		}
	}
	return found
}

// goFindings checks the names that a Go file declares, its comments and, in product code, its string literals.
func goFindings(file string, src []byte) ([]finding, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(tree) {
		return nil, nil
	}
	var found []finding
	for _, id := range declared(tree) {
		for i := range rules {
			if r := &rules[i]; r.applies(file) && r.matchesIdentifier(id.Name) {
				found = append(found, finding{rule: r, file: file, line: fset.Position(id.Pos()).Line, text: id.Name})
			}
		}
	}
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		for i := range rules {
			if r := &rules[i]; ok && r.applies(file) && slices.Contains(r.funcs, fn.Name.Name) {
				found = append(found, finding{rule: r, file: file, line: fset.Position(fn.Name.Pos()).Line, text: fn.Name.Name})
			}
		}
	}
	for _, group := range tree.Comments {
		found = append(found, proseFindings(file, commentText(group), fset.Position(group.Pos()).Line)...)
	}
	if isProduct(file) {
		found = append(found, literalFindings(file, fset, tree)...)
	}
	return found, nil
}

// isProduct reports whether people see what a Go file prints.
func isProduct(file string) bool {
	return !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(path.Dir(file), "test") && !slices.ContainsFunc([]string{"dev/", "internal/test/", "oracle/"}, func(prefix string) bool {
		return strings.HasPrefix(file, prefix)
	})
}

// literalFindings checks the string literals that contain more than one word.
func literalFindings(file string, fset *token.FileSet, tree *ast.File) []finding {
	var found []finding
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil || n.Type != nil
		case *ast.BasicLit:
			if n.Kind != token.STRING || !strings.ContainsAny(n.Value, " \n") {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			if err != nil {
				return true
			}
			line := fset.Position(n.Pos()).Line
			for _, f := range append(proseFindings(file, text, line), phraseFindings(file, text, line)...) {
				f.literal = true
				found = append(found, f)
			}
		}
		return true
	})
	return found
}

// phraseFindings checks a text that people see for what is banned only there.
func phraseFindings(file, text string, line int) []finding {
	var found []finding
	text = strings.ToLower(text)
	for i := range phrases {
		r := &phrases[i]
		for _, at := range r.prose.find(text) {
			around := text[max(0, at[0]-contextBytes):min(len(text), at[1]+contextBytes)]
			if !r.applies(file) || r.unless != nil && len(r.unless.find(around)) > 0 {
				continue
			}
			match := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			found = append(found, finding{rule: r, file: file, line: line + strings.Count(text[:at[0]], "\n"), text: match})
		}
	}
	return found
}

// declared returns the names that a file declares, from its package to its local variables. Names of other modules are
// not ours to choose, so uses are not checked.
func declared(tree *ast.File) []*ast.Ident {
	ids := []*ast.Ident{tree.Name}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				ids = append(ids, id)
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.ImportSpec:
			if n.Name != nil {
				ids = append(ids, n.Name)
			}
		case *ast.LabeledStmt:
			ids = append(ids, n.Label)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return ids
}

// commentText returns a comment without its markers, with its line breaks.
func commentText(group *ast.CommentGroup) string {
	var text strings.Builder
	for i, c := range group.List {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(strings.Trim(c.Text, "/*"))
	}
	return text.String()
}

// proseFindings checks a text that begins at a line of a file.
func proseFindings(file, text string, line int) []finding {
	var found []finding
	text = strings.ToLower(text)
	for i := range rules {
		r := &rules[i]
		if r.prose == nil || !r.applies(file) {
			continue
		}
		for _, at := range r.prose.find(text) {
			around := text[max(0, at[0]-contextBytes):min(len(text), at[1]+contextBytes)]
			if r.unless != nil && len(r.unless.find(around)) > 0 {
				continue
			}
			match := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			found = append(found, finding{rule: r, file: file, line: line + strings.Count(text[:at[0]], "\n"), text: match})
		}
	}
	return found
}

// contextBytes is how far from a match a rule's unless is looked for.
const contextBytes = 20

var (
	codeBlock = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	linkURL   = regexp.MustCompile(`\]\([^)\n]*\)`)
)

// withoutCode blanks the code and the link targets of a Markdown text, and keeps its line breaks.
func withoutCode(src []byte) []byte {
	blank := func(b []byte) []byte {
		return bytes.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return -1
		}, b)
	}
	src = codeBlock.ReplaceAllFunc(src, blank)
	src = codeSpan.ReplaceAll(src, []byte("`x`"))
	return linkURL.ReplaceAll(src, []byte("]"))
}

// words splits an identifier or a file name into lower-case words: HTTPServer_test has http, server and test.
func words(name string) []string {
	var (
		list  []string
		start int
	)
	runes := []rune(name)
	flush := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
		}
	}
	flush(len(runes))
	return list
}
