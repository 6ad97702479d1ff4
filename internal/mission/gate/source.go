package gate

import (
	"path"
	"regexp"
	"strings"
)

// language describes how tests are written in a language.
type language struct {
	tests   *regexp.Regexp // paths of test files and of files that tests use
	define  *regexp.Regexp // a line that starts a test; the group "name" is its name
	asserts *regexp.Regexp // what a test must contain to be able to fail
}

// languages are those whose tests are inspected as text. For others, only the names of the tests are compared.
var languages = map[string]language{
	"go": {
		tests:   regexp.MustCompile(`(^|/)([^/]+_test\.go|testdata/.*)$`),
		define:  regexp.MustCompile(`^func (?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\(`),
		asserts: regexp.MustCompile(`\b[tfbc]\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow|Run|Fuzz)\b|\([tfbc][,)]|// Output:`),
	},
	"python": {
		tests:   regexp.MustCompile(`(^|/)(test_[^/]+\.py|[^/]+_test\.py|conftest\.py|tests?/.*)$`),
		define:  regexp.MustCompile(`^\s*(?:async\s+)?def\s+(?P<name>test\w*)\s*\(`),
		asserts: regexp.MustCompile(`\bassert|\.assert|raises\(|\.fail\(|\bcheck`),
	},
	"javascript": {
		tests:   regexp.MustCompile(`(^|/)([^/]+\.(test|spec)\.[cm]?[jt]sx?|__tests__/.*|__snapshots__/.*|__mocks__/.*|tests?/.*)$`),
		define:  regexp.MustCompile("^\\s*(?:it|test)(?:\\.\\w+)*\\(\\s*(?:'(?P<name>[^']*)'|\"(?P<name2>[^\"]*)\"|`(?P<name3>[^`]*)`)"),
		asserts: regexp.MustCompile(`\bexpect\b|\bassert|\.rejects\b|\.throws\b|\bshould\b`),
	},
	"rust": {
		tests:   regexp.MustCompile(`(^|/)tests/.*$`),
		define:  regexp.MustCompile(`^\s*(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+)\s*\(\s*\)`),
		asserts: regexp.MustCompile(`assert|panic!|unwrap|expect\(|should_panic|\?;`),
	},
}

// languageOf returns the language of a file, by its extension.
func languageOf(name string) (language, bool) {
	key := map[string]string{
		".go": "go", ".py": "python", ".rs": "rust",
		".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".ts": "javascript", ".tsx": "javascript", ".mts": "javascript", ".cts": "javascript",
	}[path.Ext(name)]
	l, ok := languages[key]
	return l, ok
}

// isTest reports whether a file belongs to the tests.
func isTest(name string) bool {
	for _, l := range languages {
		if l.tests.MatchString(name) {
			return true
		}
	}
	return false
}

// block is the source of a test.
type block struct {
	File, Name string
	Text       string // without trailing white space
}

// blocks finds the tests in a file.
func blocks(file, text string) []block {
	l, ok := languageOf(file)
	if !ok {
		return nil
	}
	lines := strings.Split(text, "\n")
	var list []block
	for i, line := range lines {
		m := l.define.FindStringSubmatch(line)
		if m == nil || strings.Join(m[1:], "") == "TestMain" || (path.Ext(file) == ".rs" && !attributed(lines[:i])) {
			continue
		}
		list = append(list, block{file, strings.Join(m[1:], ""), body(lines[i:])})
	}
	return list
}

// attributed reports whether the lines end with attributes that include a test attribute.
func attributed(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "#[") && strings.Contains(line, "test"):
			return true
		case strings.HasPrefix(line, "#["), strings.HasPrefix(line, "///"):
		default:
			return false
		}
	}
	return false
}

// body returns the block that starts at the first line, by indentation.
func body(lines []string) string {
	depth := indent(lines[0])
	kept := []string{strings.TrimRight(lines[0], " \t\r")}
	for _, line := range lines[1:] {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && indent(line) <= depth {
			if strings.ContainsAny(trimmed[:1], "})]") {
				kept = append(kept, strings.TrimRight(line, " \t\r"))
			}
			break
		}
		if trimmed != "" {
			kept = append(kept, strings.TrimRight(line, " \t\r"))
		}
	}
	return strings.Join(kept, "\n")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// sameAs reports whether two tests are equal except for their names.
func (b block) sameAs(other block) bool {
	return strings.ReplaceAll(b.Text, b.Name, "·") == strings.ReplaceAll(other.Text, other.Name, "·")
}

// assertsNothing reports whether a test can never fail, because it asserts nothing.
func (b block) assertsNothing() bool {
	l, ok := languageOf(b.File)
	if !ok {
		return false
	}
	_, inner, _ := strings.Cut(b.Text, "\n")
	if inner == "" { // all on one line
		inner = l.define.ReplaceAllString(b.Text, "")
	}
	return !l.asserts.MatchString(inner)
}
