package inventory

import (
	"errors"
	"regexp"
	"strings"
)

var (
	// unittestStart is how a test is announced: "test_a (tests.test_b.Class.test_a)", without the last name before Python
	// 3.11. It follows another one on its line if a part of that one failed, before Python 3.11.
	unittestStart  = regexp.MustCompile(`(?:^\s*|\.\.\. )([\w.]+) \(([\w.<>]+)\)`)
	unittestStatus = regexp.MustCompile(`(?:^|.)(ok|expected failure|unexpected success|skipped (?:'.*'|".*"))$`)
	unittestBlock  = regexp.MustCompile(`^(?:FAIL|ERROR|UNEXPECTED SUCCESS): ([\w.]+) \(([\w.<>]+)\)`)
	unittestEnd    = regexp.MustCompile(`^Ran \d+ tests? in `)
)

var (
	unittestLine = strings.Repeat("=", 70) // before a failure
	unittestRule = strings.Repeat("-", 70) // before its traceback, and before the summary
)

// unittestReader reads the verbose output of Python's unittest.
type unittestReader struct {
	*Inventory

	begun   map[string]bool
	current string // the test that runs, or that failed
	failed  map[string]bool
}

// readUnittest parses the output of 'python3 -m unittest -v', and of Django, of Python 3.8 to 3.13. The list of tests says
// which were skipped or passed. The failures after it say which failed: only there they have names in all versions.
func readUnittest(text []byte, _ string) (*Inventory, error) {
	r := unittestReader{Inventory: empty(), begun: map[string]bool{}, failed: map[string]bool{}}
	read, previous, ended := r.listed, "", false
	for line := range lines(text) {
		if previous == unittestLine && unittestBlock.MatchString(line) {
			r.startBlock(line)
			read = r.explained
		} else if previous == unittestRule && unittestEnd.MatchString(line) {
			ended = true
			break
		} else {
			read(line)
		}
		previous = line
	}
	if !ended {
		return nil, errors.New("the run did not come to its end")
	}
	for name := range r.begun {
		if r.failed[name] || r.Tests[name] == "" {
			r.Tests[name] = Failed
		}
	}
	for name, text := range r.Messages {
		r.Messages[name] = strings.TrimSpace(text)
	}
	return r.Inventory, nil
}

// listed reads a line of the list of tests.
func (r *unittestReader) listed(line string) {
	for _, m := range unittestStart.FindAllStringSubmatch(line, -1) {
		if holder, name, ok := r.test(m); ok {
			r.current = holder + Separator + name
			r.begun[r.current] = true
		}
	}
	m := unittestStatus.FindStringSubmatch(line)
	if m == nil || r.current == "" {
		return
	}
	holder, name, _ := strings.Cut(r.current, Separator)
	switch m[1] {
	case "ok":
		r.add(holder, name, Passed)
	case "unexpected success":
		r.add(holder, name, Failed)
	default:
		r.add(holder, name, Skipped)
	}
}

// test returns the class and the name of a test. It returns false for the setup of a class or a module, and for a module
// that could not be imported.
func (r *unittestReader) test(m []string) (holder, name string, ok bool) {
	name, holder = m[1], m[2]
	switch {
	case strings.HasPrefix(holder, "unittest.loader._FailedTest"):
		return name, "", false
	case name == "setUpClass" || name == "tearDownClass" || name == "setUpModule" || name == "tearDownModule":
		return holder, "", false
	default:
		return strings.TrimSuffix(holder, "."+name), name, true
	}
}

// startBlock reads the first line of a failure.
func (r *unittestReader) startBlock(line string) {
	holder, name, ok := r.test(unittestBlock.FindStringSubmatch(line))
	if !ok {
		r.Broken = append(r.Broken, holder)
		r.current = holder
		return
	}
	r.current = r.add(holder, name, Failed)
	r.failed[r.current], r.begun[r.current] = true, true
}

// explained reads a line of a failure. The end of a traceback says most.
func (r *unittestReader) explained(line string) {
	const most = 4 << 10
	if line == unittestLine || line == unittestRule {
		return
	}
	text := r.Messages[r.current] + line + "\n"
	r.Messages[r.current] = text[max(0, len(text)-most):]
}
