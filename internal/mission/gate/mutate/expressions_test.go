package mutate

import (
	"slices"
	"testing"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, line, operator, want string }{
		{"a.js", "exports.lower = (text) => text.toLowerCase()\n", opReturn, "exports.lower = (text) => undefined"},
		{"a.js", "exports.lower = (text) => text.toLowerCase()\n", opCall, "exports.lower = (text) => text"},
		{"a.js", "const f = list.map((a) => g(a, 1), 2)\n", opReturn, "const f = list.map((a) => undefined, 2)"},
		{"a.js", "items.clear()\n", opCall, ""},
		{"a.js", "const f = () => {\n", opReturn, ""},
		{"a.py", "lower = lambda text: text.lower()\n", opReturn, "lower = lambda text: None"},
		{"a.py", "name = text.strip()\n", opCall, "name = text"},
		{"a.sh", "list \"$dir\" | sort -u | while read -r name; do\n", opCall, "list \"$dir\" | while read -r name; do"},
		{"a.sh", "all=$(list | sort -r)\n", opCall, "all=$(list )"},
		{"a.sh", "list | while read -r name; do\n", opCall, ""},
		{"a.go", "package a\n\nvar text = err.Error()\n", opCall, ""},
	} {
		s, ok := Parse(test.path, []byte(test.line))
		if !ok {
			t.Fatal(test.path)
		}
		got := ""
		for line := 1; line <= s.Lines(); line++ {
			for _, e := range s.edits(line) {
				if e.operator == test.operator {
					got = s.mutant(e).After
				}
			}
		}
		if got != test.want {
			t.Errorf("%s %q: got %q, want %q", test.operator, test.line, got, test.want)
		}
	}
}

// TestNothing: a statement that does nothing stands where one that ends the program can.
func TestNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, text, want string }{
		{"a.py", "def f(a):\n    return a\n", "def f(a):\n    pass\n    return a\n"},
		{"a.js", "function f (a) {\n  return a\n}\n", "function f (a) {\n  void 0;\n  return a\n}\n"},
		{"a.go", "package a\n\nfunc f() int {\n\treturn 1\n}\n", "package a\n\nfunc f() int {\n\t_ = 0\n\treturn 1\n}\n"},
		{"a.sh", "f() {\n  echo a\n}\n", "f() {\n  :\n  echo a\n}\n"},
	} {
		s, ok := Parse(test.path, []byte(test.text))
		if !ok {
			t.Fatal(test.path)
		}
		var all []string
		for line := 1; line <= s.Lines(); line++ {
			if text, ok := s.Nothing(line); ok {
				all = append(all, string(text))
			}
		}
		if !slices.Contains(all, test.want) {
			t.Errorf("%s: got %q, want %q among them", test.path, all, test.want)
		}
	}
}
