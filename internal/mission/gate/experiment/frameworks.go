package experiment

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// testFiles returns the files of a side with tests of a check: those that the runner reports, and those that the rules of
// the language name.
func (x *experiments) testFiles(s *side, c pawl.Check) (paths []string) {
	results := x.onHead
	if s == x.base {
		results = x.onBase
	}
	reported := map[string]bool{}
	if r := results[c.ID]; r.Tests != nil {
		for holder := range r.Tests.Holders() {
			if p, ok := s.fileOf(path.Join(c.Dir, holder), c.Tests); ok && !s.hasDoctest(p) {
				reported[p] = true
			}
		}
	}
	for p := range s.entries {
		if c.Dir != "" && !strings.HasPrefix(p, c.Dir+"/") {
			continue
		}
		if reported[p] || len(reported) == 0 && isTestName(c, p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// isTestName reports whether the rules of a runner make a file one with tests.
func isTestName(c pawl.Check, p string) bool {
	switch c.Tests {
	case "gotest":
		return strings.HasSuffix(p, "_test.go") && !strings.Contains("/"+p, "/testdata/") && !strings.Contains("/"+p, "/_")
	case "cargo":
		return path.Ext(p) == ".rs"
	default:
		return testName.MatchString(p) || testDirs.MatchString(p)
	}
}

// addFailing returns the text of a test file with one more test, which fails. It returns false if it does not know how.
func addFailing(c pawl.Check, p string, text []byte, name string) ([]byte, bool) {
	var more string
	switch {
	case c.Tests == "gotest":
		if !bytes.Contains(text, []byte(`"testing"`)) || bytes.Contains(text, []byte("\n//go:build")) || bytes.HasPrefix(text, []byte("//go:build")) {
			return nil, false
		}
		more = fmt.Sprintf("func Test_%s(t *testing.T) {\n\tif 1+1 == 2 {\n\t\tt.Error(\"fails\")\n\t}\n}\n", name)
	case path.Ext(p) == ".py" && bytes.Contains(text, []byte("unittest")):
		more = fmt.Sprintf("import unittest as _%[1]s\n\n\nclass Test_%[1]s(_%[1]s.TestCase):\n    def test_%[1]s(self):\n        self.assertEqual(1 + 1, 3)\n", name)
		if before, after, ok := strings.Cut(string(text), "\nif __name__"); ok {
			return []byte(before + "\n\n" + more + "\n\nif __name__" + after), true
		}
	case path.Ext(p) == ".py":
		more = fmt.Sprintf("def test_%s():\n    assert 1 + 1 == 3\n", name)
	case c.Tests == "node":
		more = fmt.Sprintf("import('node:test').then(({ test }) => test('%s', async () => {\n  (await import('node:assert')).default.strictEqual(1 + 1, 3)\n}))\n", name)
	case c.Tests == "jest":
		more = fmt.Sprintf("test('%s', () => { expect(1 + 1).toBe(3) })\n", name)
		if bytes.Contains(text, []byte("vitest")) {
			more = fmt.Sprintf("const _%[1]s = await import('vitest')\n_%[1]s.test('%[1]s', () => { _%[1]s.expect(1 + 1).toBe(3) })\n", name)
		}
	case c.Tests == "cargo":
		if !bytes.Contains(text, []byte("#[test]")) {
			return nil, false
		}
		more = fmt.Sprintf("#[cfg(test)]\nmod t_%s {\n    #[test]\n    fn fails() {\n        assert_eq!(1 + 1, 3);\n    }\n}\n", name)
	default:
		return nil, false
	}
	return []byte(strings.TrimRight(string(text), "\n") + "\n\n\n" + more), true
}
