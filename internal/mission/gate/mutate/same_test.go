package mutate

import "testing"

func TestSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path, a, b string
		want       bool
	}{
		{"a.py", "def f(a):\n    return a\n", "# c\ndef f(a):\n\n    return a  # noqa\n", true},
		{"a.py", "for a in b:\n    f(a)\n    g(a)\n", "for a in b:\n    f(a)\ng(a)\n", false},
		{"a.py", "x = 1\n", "x = 2\n", false},
		{"a.py", "x = 'a b'\n", "x = 'a  b'\n", false},
		{"a.go", "package a\n\nvar x = 1\n", "package a\n\n// x is one.\nvar  x = 1 // one\n", true},
		{"a.go", "package a\n", "//go:build linux\n\npackage a\n", false},
		{"a.js", "f(a)\n", "/* c */ f(a)\n", true},
		{"a.js", "f(a)\n", "f(b)\n", false},
		{"a.c", "#define N 1\nint f(void) { return N; }\n", "#define N 2\nint f(void) { return N; }\n", false},
		{"a.c", "int f(void) { return 1; }\n", "// c\nint f(void) { return 1; }\n", true},
		{"a.sh", "a b\n", "# c\na b # d\n", true},
		{"a.sh", "a b\n", "a\nb\n", false},
	} {
		a, _ := Parse(test.path, []byte(test.a))
		b, _ := Parse(test.path, []byte(test.b))
		if got := Same(a, b); got != test.want {
			t.Errorf("%s: %q and %q: got %t\n%q\n%q", test.path, test.a, test.b, got, a.skeleton(), b.skeleton())
		}
	}
}
