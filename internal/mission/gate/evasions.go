package gate

import (
	"regexp"
	"strings"
)

// evasion is a pattern in added lines that indicates that a check is evaded.
type evasion struct {
	rule  string
	in    func(file string) bool
	match *regexp.Regexp
	text  string
}

func anywhere(string) bool       { return true }
func outsideTests(f string) bool { return !isTest(f) }

// evasions are patterns that are faults by themselves. Moved lines do not count: a pattern must be added more
// often than it is removed.
var evasions = []evasion{
	{"lint-silenced", anywhere, regexp.MustCompile(
		`//\s*nolint|#\s*noqa|#\s*type:\s*ignore|#\s*pylint:\s*disable|#\s*fmt:\s*off|eslint-disable|@ts-(ignore|nocheck|expect-error)|biome-ignore|#!?\[allow\(|#\s*pyright:\s*ignore|//\s*#nosec|staticcheck:ignore|//lint:(file-)?ignore`),
		"a check is silenced: fix what the check reports, or allow the exception explicitly"},
	{"coverage-excluded", anywhere, regexp.MustCompile(`pragma:\s*no\s*cover|istanbul ignore|c8 ignore|v8 ignore|coverage:ignore|LCOV_EXCL|#\[coverage\(off\)\]`),
		"code is excluded from coverage: remove the exclusion, or allow it explicitly"},
	{"test-aware", outsideTests, regexp.MustCompile(
		`\btesting\.Testing\(\)|PYTEST_CURRENT_TEST|JEST_WORKER_ID|VITEST(_POOL_ID|_WORKER_ID)?\b|["']pytest["']\s+in\s+sys\.modules|flag\.Lookup\(["']test\.|HasSuffix\(os\.Args\[0\],\s*["'](\.test|_test)|NODE_ENV\s*={2,3}\s*["']test|cfg!\(test\)`),
		"the program behaves differently when it is tested: make it behave the same"},
}

// suspicions are patterns that a reviewer must assess: there are honest reasons for them.
var suspicions = []evasion{
	{"ends-early", anywhere, regexp.MustCompile(`os\.Exit\(0\)|os\._exit\(|sys\.exit\(0?\)|process\.exit\(0?\)|std::process::exit\(0\)|atexit\.register|syscall\.Exit\(0\)`),
		"it can end a program early with success"},
	{"reads-results", outsideTests, regexp.MustCompile(`junitxml|--outputFile|test2json|/proc/self/(fd|cmdline)|sys\.argv.*junit`),
		"it refers to test result files"},
	{"reads-history", anywhere, regexp.MustCompile(`\.git/(refs|objects|packed-refs|logs)|git\s+(show|log|cat-file|rev-parse|reflog)\b`),
		"it reads the repository's history"},
	{"skips", isTest, regexp.MustCompile(`\bt\.Skip|pytest\.(mark\.)?(skip|xfail)|\b(it|test|describe)\.(skip|todo|only)\b|\bx(it|describe|test)\(|#\[ignore`),
		"tests are skipped, or only some are run"},
}

// change is a changed file.
type change struct {
	file           string
	added, removed []string // lines
}

// spot returns the patterns that a change adds more often than it removes.
func spot(list []evasion, c change) []evasion {
	var found []evasion
	for _, s := range list {
		if s.in(c.file) && count(s.match, c.added) > count(s.match, c.removed) {
			found = append(found, s)
		}
	}
	return found
}

func count(re *regexp.Regexp, lines []string) (n int) {
	for _, line := range lines {
		n += len(re.FindAllString(line, -1))
	}
	return n
}

// maxQuote bounds how much of a line is quoted, in bytes.
const maxQuote = 300

// first returns the first added line with the pattern; of a long line, the part that starts with it.
func (s evasion) first(c change) string {
	for _, line := range c.added {
		at := s.match.FindStringIndex(line)
		switch {
		case at == nil:
		case len(line) > maxQuote:
			return strings.ToValidUTF8(line[at[0]:min(len(line), at[0]+maxQuote)], "") + "…"
		default:
			return strings.TrimSpace(line)
		}
	}
	return ""
}
