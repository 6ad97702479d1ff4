package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// unittestWant are the tests of the project whose output all versions of Python wrote.
var unittestWant = Inventory{
	Tests: map[string]Status{
		"tests.test_a.A::test_good": Passed, "tests.test_a.A::test_doc": Passed, "tests.test_a.A::test_doc_bad": Failed, "tests.test_a.A::test_error": Failed,
		"tests.test_a.A::test_skip": Skipped, "tests.test_a.A::test_xfail": Skipped, "tests.test_a.A::test_xpass": Failed, "tests.test_a.A::test_parts": Failed,
		"tests.test_a.A::test_parts_good": Passed, "tests.test_a.A::test_print": Passed, "tests.test_a.A::test_print_line": Passed,
		"tests.test_a.A::test_skip_part": Skipped, "tests.test_a.C::test_once": Passed, "tests.test_a.C.Inner::test_inner": Passed,
		"tests.test_a.Async::test_async": Failed, "tests.test_a.D::test_d": Skipped,
	},
	Broken: []string{"tests.test_a.B", "tests.test_a.C", "tests.test_broken", "tests.test_mod"},
}

// The files in testdata were written by the runners themselves, see their README.
func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		format string
		want   Inventory
	}{
		"gotest.jsonl": {"gotest", Inventory{
			Tests: map[string]Status{
				"example.org/m::TestGood": Passed, "example.org/m::TestBad": Failed, "example.org/m::TestOff": Skipped,
				"example.org/m::TestParts": Failed, "example.org/m::TestParts/a": Passed, "example.org/m::TestParts/b": Failed,
				"example.org/m/exits::TestStuck": Failed,
			},
			Broken: []string{"example.org/m/broken"},
		}},
		"pytest.xml": {"junit", Inventory{
			Tests: map[string]Status{
				"test_a::test_good": Passed, "test_a::test_bad": Failed, "test_a::test_off": Skipped, "test_a.TestClass::test_in": Passed,
				"test_a::test_some[1]": Passed, "test_a::test_some[2]": Failed,
			},
			Broken: []string{"test_broken"},
		}},
		"node.xml": {"junit", Inventory{
			Tests: map[string]Status{"good": Passed, "bad": Failed, "off": Skipped},
		}},
		"node.jsonl": {"node", Inventory{
			Tests:  map[string]Status{"a.test.mjs::good": Passed, "a.test.mjs::bad": Failed, "a.test.mjs::off": Skipped, "a.test.mjs::inner": Failed},
			Broken: []string{"broken.test.js"},
		}},
		"jest.json": {"jest", Inventory{
			Tests:  map[string]Status{"a.test.js::sum adds a/b": Passed, "a.test.js::sum fails": Failed, "a.test.js::off": Skipped},
			Broken: []string{"broken.test.js"},
		}},
		"cargo.txt": {"cargo", Inventory{
			Tests: map[string]Status{
				"src/lib.rs::tests.good": Passed, "src/lib.rs::tests.bad": Failed, "src/lib.rs::tests.off": Skipped, "tests/whole.rs::whole": Passed,
			},
		}},
		"prove.txt": {"tap", Inventory{
			Tests: map[string]Status{
				"t/a.t::good": Passed, "t/a.t::bad": Failed, "t/a.t::test 3": Skipped, "t/a.t::todo": Skipped, "t/a.t::parts": Passed, "t/a.t::test 6": Passed,
				"t/cut.t::first": Passed,
			},
			Broken: []string{"t/broken.t", "t/cut.t"},
		}},
		"bats.tap": {"tap", Inventory{
			Tests: map[string]Status{"counts words": Passed, "makes capitals": Failed, "waits": Skipped},
		}},
		"rspec.json": {"rspec", Inventory{
			Tests: map[string]Status{
				"spec/words_spec.rb::Words counts": Passed, "spec/words_spec.rb::Words fails": Failed, "spec/words_spec.rb::Words waits": Skipped,
			},
			Broken: []string{"a file outside of examples"},
		}},
		"unittest-3.8.txt":  {"unittest", unittestWant},
		"unittest-3.13.txt": {"unittest", unittestWant},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(test.format, text, "/work")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got, cmpopts.IgnoreUnexported(Inventory{}), cmpopts.IgnoreFields(Inventory{}, "Messages", "Files")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMessages: a report says why a test failed.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, format, name, want string }{
		{"pytest.xml", "junit", "test_a::test_bad", "assert False"},
		{"node.jsonl", "node", "a.test.mjs::inner", "ReferenceError: missing is not defined"},
		{"jest.json", "jest", "a.test.js::sum fails", "expect"},
		{"prove.txt", "tap", "t/a.t::bad", "expected: '2'"},
		{"bats.tap", "tap", "makes capitals", "failed"},
		{"rspec.json", "rspec", "spec/words_spec.rb::Words fails", "expected: 2"},
		{"unittest-3.8.txt", "unittest", "tests.test_a.A::test_parts", "AssertionError: 1 == 1"},
		{"unittest-3.13.txt", "unittest", "tests.test_a.A::test_doc_bad", "AssertionError: 1 != 2"},
		{"unittest-3.13.txt", "unittest", "tests.test_broken", "No module named 'missing_module'"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", test.file))
		if err != nil {
			t.Fatal(err)
		}
		v, err := Parse(test.format, text, "/work")
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Messages[test.name]; !strings.Contains(got, test.want) {
			t.Errorf("%s: %s: got %q, want %q in it", test.file, test.name, got, test.want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ format, text string }{
		"unknown format": {"lines", ""},
		"cut unittest":   {"unittest", "test_a (m.A.test_a) ... ok\n"},
		"other rspec":    {"rspec", "{}"},
		"cut go":         {"gotest", `{"Action":"run","Pack`},
		"cut xml":        {"junit", `<testsuite><testcase name="a">`},
		"no suite":       {"junit", `<html></html>`},
		"entity":         {"junit", `<!DOCTYPE a [<!ENTITY x "y">]><testsuite><testcase name="&x;"/></testsuite>`},
		"empty xml":      {"junit", ``},
		"cut node":       {"node", `{"name":"a`},
		"cut json":       {"jest", `{"testResults":[`},
		"other json":     {"jest", `{"ok":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := Parse(test.format, []byte(test.text), "/"); err == nil {
				t.Errorf("read as %v", v)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	v, err := Parse("gotest", []byte(strings.Join([]string{
		`{"Action":"run","Package":"p","Test":"TestA/b/c"}`, `{"Action":"pass","Package":"p","Test":"TestA/b/c"}`,
	}, "\n")), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Whole("p::TestA/b/c"); got != "p::TestA" {
		t.Error(got)
	}
	j := empty()
	if got := j.Whole("f.js::adds a/b"); got != "f.js::adds a/b" {
		t.Error(got)
	}
	if Holder("p::T") != "p" || Leaf("p::T::x") != "T::x" || Holder("alone") != "" || Leaf("alone") != "alone" {
		t.Error("names are taken apart wrongly")
	}
}
