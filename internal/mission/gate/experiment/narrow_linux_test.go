package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// TestNarrow: mutants of a Go package run its tests and those of packages that use it, and no others.
func TestNarrow(t *testing.T) {
	t.Parallel()
	test := func(pkg, imports, body string) string {
		return "package " + pkg + "\n\nimport (\n\t" + imports + "\"testing\"\n)\n\nfunc TestIt(t *testing.T) {\n\t" + body + "\n}\n"
	}
	base := map[string]string{
		"go.mod": "module m\n\ngo 1.21\n", "a/a.go": "package a\n\nfunc One() int { return 1 }\n", "a/a_test.go": test("a", "", "if One() != 1 {\n\t\tt.Fatal()\n\t}"),
		"b/b.go": "package b\n\nimport \"m/a\"\n\nfunc Two() int { return 2 * a.One() }\n", "b/b_test.go": test("b", "", "if Two() != 2 {\n\t\tt.Fatal()\n\t}"),
		"c/c.go": "package c\n\nfunc Three() int { return 3 }\n", "c/c_test.go": test("c", "", "if Three() != 3 {\n\t\tt.Fatal()\n\t}"),
	}
	change := map[string]string{
		"a/more.go": "package a\n\nfunc Double(n int) int { return n * 2 }\n", "a/more_test.go": strings.Replace(test("a", "", "if Double(4) != 8 || Double(0) != 0 {\n\t\tt.Fatal()\n\t}"), "TestIt", "TestDouble", 1),
	}
	c := newConfig(t, base, change, "")
	c.Checks = []pawl.Check{{ID: "go-test", Kind: pawl.CheckTest, Tests: "gotest", Args: []string{"go", "test", "-json", "-count=1", "./..."}}}
	x, err := open(t.Context(), c)
	must(t, err)
	x.slow = 0
	r, err := x.run(t.Context())
	must(t, err)
	if r.Verdict != Proven || r.Mutants.Total == 0 {
		t.Errorf("got %s, %+v, %+v", r.Verdict, r.Findings, r.Mutants)
	}
	for _, run := range r.Runs {
		want := "./..."
		if strings.HasPrefix(run.On, "mutant") || strings.HasPrefix(run.On, "probe") || strings.HasPrefix(run.On, "candidate, tests of") {
			want = "m/a m/b"
		}
		args := slices.DeleteFunc(slices.Clone(run.Args[2:]), func(a string) bool { return strings.HasPrefix(a, "-") })
		if diff := cmp.Diff(want, strings.Join(args, " ")); diff != "" {
			t.Errorf("%s: %s", run.On, diff)
		}
	}
}

// TestNarrowRefuses: a check that is not of Go packages runs whole, and so does one if nothing or everything stops, or if a
// name could be an option.
func TestNarrowRefuses(t *testing.T) {
	t.Parallel()
	tests := func(names ...string) result {
		r := result{Tests: &inventory.Inventory{Tests: map[string]inventory.Status{}}}
		for _, name := range names {
			r.Tests.Tests[name] = inventory.Passed
		}
		return r
	}
	whole := []string{"go", "test", "./..."}
	for name, test := range map[string]struct {
		format       string
		args         []string
		was, touched result
		want         []string
	}{
		"narrow":     {"gotest", whole, tests("m/a::T", "m/b::T"), tests("m/b::T"), []string{"go", "test", "m/a"}},
		"all":        {"gotest", whole, tests("m/a::T", "m/b::T"), tests(), nil},
		"none":       {"gotest", whole, tests("m/a::T", "m/b::T"), tests("m/a::T", "m/b::T"), nil},
		"option":     {"gotest", whole, tests("-run=x::T", "m/b::T"), tests("m/b::T"), nil},
		"no report":  {"gotest", whole, tests("m/a::T", "m/b::T"), result{}, nil},
		"junit":      {"junit", whole, tests("m/a::T", "m/b::T"), tests("m/b::T"), nil},
		"make":       {"gotest", []string{"make", "test", "./..."}, tests("m/a::T", "m/b::T"), tests("m/b::T"), nil},
		"a package":  {"gotest", []string{"go", "test", "./a"}, tests("m/a::T", "m/b::T"), tests("m/b::T"), nil},
		"two trees":  {"gotest", []string{"go", "test", "./x/...", "./y/..."}, tests("m/a::T", "m/b::T"), tests("m/b::T"), nil},
		"no command": {"gotest", []string{"go"}, tests("m/a::T", "m/b::T"), tests("m/b::T"), nil},
	} {
		n, ok := narrow(pawl.Check{Tests: test.format, Args: test.args}, test.was, test.touched)
		if diff := cmp.Diff(test.want, n.check.Args); diff != "" || ok != (test.want != nil) {
			t.Errorf("%s: %t, %s", name, ok, diff)
		}
		if ok && len(n.before.Tests.Tests) != 1 {
			t.Errorf("%s: compared with %v", name, n.before.Tests.Tests)
		}
	}
}
