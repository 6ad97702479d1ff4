package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file, text string
		want       []block
	}{
		"go": {"a_test.go", "func TestA(t *testing.T) {\n\tt.Error(1)\n\n}\n\nfunc TestMain(m *testing.M) {}\nfunc helper() {}\n", []block{
			{"a_test.go", "TestA", "func TestA(t *testing.T) {\n\tt.Error(1)\n}"},
		}},
		"python": {"test_a.py", "class TestA:\n    def test_one(self):\n        assert 1\n\n    async def test_two(self): assert 2\n\ndef other():\n    pass\n", []block{
			{"test_a.py", "test_one", "    def test_one(self):\n        assert 1"},
			{"test_a.py", "test_two", "    async def test_two(self): assert 2"},
		}},
		"javascript": {"a.test.ts", "describe('x', () => {\n  it('does', () => {\n    expect(1).toBe(1)\n  })\n  test.skip(\"not\", () => {})\n})\n", []block{
			{"a.test.ts", "does", "  it('does', () => {\n    expect(1).toBe(1)\n  })"},
			{"a.test.ts", "not", "  test.skip(\"not\", () => {})\n})"},
		}},
		"rust": {"lib.rs", "fn plain() {}\n#[test]\n#[should_panic]\nfn fails() {\n    panic!()\n}\n", []block{
			{"lib.rs", "fails", "fn fails() {\n    panic!()\n}"},
		}},
		"other": {"a.c", "void test_a() {}", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, blocks(test.file, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"func TestA(t *testing.T) {\n\t_ = 1\n}":                    true,
		"func TestA(t *testing.T) {\n\tcheck(t, 1)\n}":              false,
		"func TestA(t *testing.T) {\n\tt.Run(\"a\", run)\n}":        false,
		"func TestA(t *testing.T) {\n\tt.Log(1)\n}":                 true,
		"func ExampleA() {\n\tprint()\n\t// Output: 1\n}":           false,
		"func FuzzA(f *testing.F) {\n\tf.Fuzz(func(){})\n}":         false,
		"func TestA(t *testing.T) {\n\trequire.NoError(t, err)\n}":  false,
		"func TestA(t *testing.T) { t.Parallel(); t.Fatal(\"x\") }": false,
	} {
		if got := (block{"a_test.go", "TestA", text}).assertsNothing(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestIsTest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a_test.go": true, "x/a_test.go": true, "a.go": false, "testdata/x": true, "x/testdata/y/z": true, "tests/a.py": true, "test_a.py": true, "a_test.py": true,
		"conftest.py": true, "src/a.py": false, "a.test.js": true, "a.spec.tsx": true, "__tests__/a.js": true, "src/attest.js": false, "contest/a.go": false, "tests/whole.rs": true,
	} {
		if got := isTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true}, {"a*b*c", "a--b--c", true},
		{"a*b*c", "ac", false}, {"ab*ba", "aba", false}, {"**", "x", true}, {"*b*", "aac", false},
	} {
		if got := match(test.pattern, test.name); got != test.want {
			t.Errorf("%q, %q: %v", test.pattern, test.name, got)
		}
	}
}

func TestProtected(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".github/workflows/ci.yml": true, ".github/ISSUE_TEMPLATE.md": false, "sub/conftest.py": true, "my_conftest.py": false, "jest.config.mjs": true, "tsconfig.base.json": true,
		"src/vendor/x.go": true, "vendors/x.go": false, "main.go": false, "Makefile": false, ".pawl/config.json": true, "a/b.pth": true,
		"node_modules": true, "sub/.cargo": true, "./.ci/run": true, "a/../.ci/run": true, "a//vendor//b": true, "../x": true, "/x": true, "": false,
	} {
		if got := Protects(pawl.Criteria{}, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !Protects(pawl.Criteria{Protected: []string{"Makefile"}}, "x/Makefile") {
		t.Error("what a gate adds is not protected")
	}
	approved := pawl.Criteria{Approval: pawl.Approval{Files: []string{".ci/*"}}}
	for name, want := range map[string]bool{".ci/run": false, "a/../.ci/run": false, ".cirun": false, "a/.ci/run": true, ".ci/../vendor/x": true, ".ci/../../x": true} {
		if got := Protects(approved, name); got != want {
			t.Errorf("%s, with .ci/* agreed on: %v", name, got)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
		want                bool
	}{
		{"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}`, false},
		{"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest || true"}}`, true},
		{"package.json", `{}`, `{`, true},
		{"pyproject.toml", "[project]\nname = 'a'", "[project]\nname = 'b'", false},
		{"pyproject.toml", "[tool.pytest.ini_options]\naddopts = ''", "[ tool . pytest . ini_options ]\naddopts = '-k x'", true},
		{"pyproject.toml", "", "tool.pytest.ini_options.addopts = '-k x'", true},
		{"Cargo.toml", "[dependencies]\na = '1'", "[dependencies]\na = '2'", false},
		{"Cargo.toml", "", "[[test]]\nname = 'x'\ntest = false", true},
		{"go.mod", "module a\n", "module a\nrequire b v1.0.0\n", false},
		{"go.mod", "module a\n", "module a\nreplace (\n\tb => ./c\n)\n", true},
		{"main.go", "a", "b", false},
	} {
		if got := partsDiffer(test.name, []byte(test.before), []byte(test.after)); got != test.want {
			t.Errorf("%s %q -> %q: %v", test.name, test.before, test.after, got)
		}
	}
}
