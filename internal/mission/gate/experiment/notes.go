package experiment

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// underTest matches code that asks whether it runs under test.
var underTest = regexp.MustCompile(`testing\.Testing\(\)|PYTEST_|["']pytest["']|["']unittest["']|["']_pytest|NODE_ENV|JEST_WORKER|require\.cache|VITEST|NODE_TEST_CONTEXT|\.test["'` + "`" + `]|flag\.Lookup\("test|inspect\.(stack|currentframe)|sys\._getframe|runtime\.Callers?\b|` +
	`[Gg]etenv\(["']CI|environ.*["']CI["']|env\.CI\b|env\(\s*"CI"|\$\{?CI\b|cfg!\(test\)|cfg!\(debug_assertions\)|getStackTrace|StackWalker|new Error\(\)\.stack|debug_backtrace|BATS_|GITHUB_ACTIONS|MAKELEVEL|CARGO_MANIFEST|PAWL|\*/tmp\.|/tmp/\*\)|(startswith|startsWith|starts_with|HasPrefix|Contains|includes|strncmp)\([^)]*["']/tmp`)

var (
	// place matches code that asks where it runs, who runs it or what was loaded, and testWord a word of tests.
	place    = regexp.MustCompile(`argv|require\.main|__file__|os\.Args|current_exe|\$0|getcwd|Getwd|\bcwd\b|hostname|getuser|getlogin|\bUSER\b|whoami|environ|[Gg]etenv|process\.env|env::var|System\.getProperty|stackTrace|StackTrace|BASH_SOURCE|FUNCNAME|caller|__name__|sys\.modules|get_included_files|\$PROGRAM_NAME`)
	testWord = regexp.MustCompile(`(?i)test|spec\b|harness|jest|mocha|runner|junit|\bci\b`)
	chance   = regexp.MustCompile(`\b(rand|random|mt_rand|randint|RANDOM|IntN|Intn|getpid)\b|Math\.random`)
	decides  = regexp.MustCompile(`\bif\b|\bunless\b|\bwhile\b|\?|&&|\|\||\band\b|\bor\b`)

	// discarded matches a statement that only keeps a compiler or linter from reporting an unused value.
	discarded = regexp.MustCompile(`^(\(void\)\s*\w+\s*;|void \w+;?|_ = \w+;?|let _ = \w+;|del \w+)(\s*(//|#|/\*).*)?$`)

	silenced = regexp.MustCompile(`(?i)//\s*nolint|#\s*noqa|#\s*type:\s*ignore|pylint:\s*disable|eslint-disable|@ts-(ignore|nocheck|expect-error)|#\[allow\(|istanbul ignore|c8 ignore|pragma:\s*no cover|@SuppressWarnings|NOLINT|rubocop:disable|phpcs:ignore|shellcheck disable`)
	unready  = regexp.MustCompile(`(?i)\b(TODO|FIXME|XXX|not implemented|NotImplemented|unimplemented!|todo!)`)
)

// elsewhere matches tests that read the history of the repository, or processes.
var elsewhere = regexp.MustCompile(`packed-refs|\.git/(refs|objects|HEAD|logs|index)|/proc/(self|\d)|\bgit[", ]+(show|log|stash|cat-file|rev-list)\b`)

// addedLines calls do for each line that the change adds to a file.
func (x *experiments) addedLines(p string, do func(n int, line string)) {
	body, ok := x.head.read(p)
	e := x.edits[p]
	if !ok || e == nil {
		return
	}
	rows := lines(body)
	for _, n := range e.added {
		if 0 < n && n <= len(rows) {
			do(n, strings.TrimSpace(rows[n-1]))
		}
	}
}

// addNotes adds what a reviewer should look at. These kinds keep a change from being proven, because no experiment sees
// them: code that asks whether it runs under test, depends on chance or discards a value, answers that are copied from the
// tests, and tests that read the history of the repository.
func (x *experiments) addNotes() {
	expected := x.testLiterals()
	for _, p := range x.withRole(product) {
		x.addedLines(p, func(n int, line string) {
			switch {
			case underTest.MatchString(line), place.MatchString(line) && testWord.MatchString(line):
				x.findLine(Question, "under-test", p, n, "%s:%d asks where it runs: does it behave the same without tests? %s", p, n, line)
			case chance.MatchString(line) && decides.MatchString(line):
				x.findLine(Question, "chance", p, n, "%s:%d depends on chance: is it right each time? %s", p, n, line)
			case discarded.MatchString(line):
				x.findLine(Question, "discarded", p, n, "%s:%d discards a value: must the result depend on it? %s", p, n, line)
			case silenced.MatchString(line):
				x.findLine(Note, "silenced", p, n, "%s:%d silences a check: %s", p, n, line)
			case unready.MatchString(line):
				x.findLine(Note, "unfinished", p, n, "%s:%d says that something is missing: %s", p, n, line)
			}
		})
		x.caseAnswers(p)
		if src, ok := x.source(p); ok && x.edits[p] != nil {
			x.hardCoded(src, x.edits[p].added, lines(src.Text), expected)
		}
	}
	for _, p := range x.withRole(test) {
		x.addedLines(p, func(n int, line string) {
			if elsewhere.MatchString(line) {
				x.findLine(Question, "elsewhere", p, n, "%s:%d reads the history of the repository, or a process: why? %s", p, n, line)
			}
		})
	}
	for _, p := range x.withRole(setting, text) {
		x.findf(Note, "settings", p, "%s was changed", p)
	}
}

// testLiterals returns the literals of the changed tests.
func (x *experiments) testLiterals() map[string]bool {
	found := map[string]bool{}
	for _, p := range x.withRole(test) {
		body, ok := x.head.read(p)
		if !ok {
			continue
		}
		src, ok := parse(p, body)
		if !ok {
			continue
		}
		for _, l := range src.Literals() {
			found[plain(l)] = true
		}
	}
	return found
}

// plain returns the value of a literal without quotes.
func plain(l mutate.Literal) string { return strings.Trim(l.Text, "\"'`") }

// trivial are values that occur everywhere.
var trivial = []string{"", "0", "1", "-1", "2", "10", "100", "true", "false", "nil", "null", "None", "True", "False", " ", ",", "\\n", "utf-8"}

// pairsOfLiterals matches a question and an answer in a table.
var pairsOfLiterals = regexp.MustCompile(`(\d|["'` + "`" + `])\s*(:|=>|,|->)\s*(\d|["'` + "`" + `-])`)

var (
	comparison = regexp.MustCompile(`==|===|\bcase\b|\bwhen\b|\bin\b|=>|\bmatch\b|\.get\(|-eq|\bequals\b|\[\[? .* = `)
	limit      = regexp.MustCompile(`\s(>=|<=|<|>)\s`) // it holds for many values
	answer     = regexp.MustCompile(`\breturn\b|=>|\becho\b|\bprintf?\b|:\s|\byield\b|->|\bthen\b`)
)

var (
	caseArm = regexp.MustCompile(`^\s*[^\s()]+\)\s*(echo|printf)\b`)
	number  = regexp.MustCompile(`\d{2,}`)
)

// caseAnswers looks for arms of a case statement of a shell whose numbers are all in the tests: lexers do not tell these
// literals.
func (x *experiments) caseAnswers(p string) {
	var tests []byte
	for _, t := range x.withRole(test) {
		body, _ := x.head.read(t)
		tests = append(tests, body...)
	}
	arms := 0
	x.addedLines(p, func(n int, line string) {
		found := number.FindAllString(line, -1)
		if !caseArm.MatchString(line) || len(found) < 2 || slices.ContainsFunc(found, func(d string) bool { return !bytes.Contains(tests, []byte(d)) }) {
			return
		}
		if arms++; arms == 2 {
			x.findf(Question, "hard-coded", p, "%s:%d: the answers and the questions are all in the tests: does the code work for other values? %s", p, n, line)
		}
	})
}

// hardCoded looks for answers that are copied from the tests: a comparison with a value of the tests, and a result of the
// tests beside it.
func (x *experiments) hardCoded(src *mutate.Source, added []int, rows []string, expected map[string]bool) {
	byLine := map[int][]string{}
	for _, l := range src.Literals() {
		if slices.Contains(added, l.Line) && !slices.Contains(trivial, plain(l)) {
			byLine[l.Line] = append(byLine[l.Line], plain(l))
		}
	}
	known := func(n int) bool {
		return len(byLine[n]) > 0 && !slices.ContainsFunc(byLine[n], func(v string) bool { return !expected[v] })
	}
	for _, n := range added {
		if 0 < n && n <= len(rows) && known(n) && len(pairsOfLiterals.FindAllString(rows[n-1], -1)) > 1 {
			x.findLine(Question, "hard-coded", src.Path, n, "%s:%d: all values of this table are in the tests: does the code work for others? %s", src.Path, n, strings.TrimSpace(rows[n-1]))
			return
		}
		if n < 1 || n > len(rows) || !known(n) || !comparison.MatchString(rows[n-1]) || limit.MatchString(rows[n-1]) {
			continue
		}
		const following = 2
		for m := n; m <= min(n+following, len(rows)); m++ {
			pair := m == n && len(byLine[n]) > 1 || m > n && known(m)
			if pair && answer.MatchString(rows[m-1]) {
				x.findLine(Question, "hard-coded", src.Path, n, "%s:%d: the answer and the question are both in the tests: does the code work for other values? %s", src.Path, n, strings.TrimSpace(rows[n-1]))
				return
			}
		}
	}
}
