package inventory

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	tapTest      = regexp.MustCompile(`^(not )?ok\b(?:\s+(\d+))?(?:\s+-)?\s*(.*)$`)
	tapPlan      = regexp.MustCompile(`^1\.\.(\d+)\b`)
	tapDirective = regexp.MustCompile(`(?i)(?:^|\s)#\s*(skip|todo)\b.*$`)
	tapBail      = regexp.MustCompile(`^Bail out!\s*(.*)$`)
	proveFile    = regexp.MustCompile(`^(\S+) \.{2,}\s*$`) // prove --verbose announces each file
)

// tapReader reads the Test Anything Protocol.
type tapReader struct {
	*Inventory

	file    string // of the tests that follow, if prove runs them
	planned int    // number of tests that were announced; -1 if none was
	seen    int
	failed  string // the test that the next lines explain
}

// readTAP parses the output of Bats, prove --verbose and others. Subtests, which are indented, are part of their test.
func readTAP(text []byte, root string) (*Inventory, error) {
	r := tapReader{Inventory: empty(), planned: -1}
	for line := range lines(text) {
		if m := proveFile.FindStringSubmatch(line); m != nil {
			r.endFile()
			r.file = strings.TrimPrefix(m[1], root)
			continue
		}
		r.line(line)
	}
	r.endFile()
	return r.Inventory, nil
}

func (r *tapReader) line(line string) {
	test, plan, bail := tapTest.FindStringSubmatch(line), tapPlan.FindStringSubmatch(line), tapBail.FindStringSubmatch(line)
	switch {
	case plan != nil:
		r.planned, _ = strconv.Atoi(plan[1]) // digits
	case bail != nil:
		r.Broken = append(r.Broken, strings.TrimSpace(r.file+" "+bail[1]))
	case test != nil && (test[2] != "" || test[3] != ""): // prove ends a file with "ok" alone
		r.test(test)
	case r.failed != "" && line != "":
		if text := r.Messages[r.failed]; len(text) < 4<<10 {
			r.Messages[r.failed] = strings.TrimPrefix(text+"\n"+strings.TrimLeft(line, "# "), "\n")
		}
	}
}

// test records a test. One without a name is known by its number.
func (r *tapReader) test(m []string) {
	r.seen++
	r.failed = ""
	name := strings.TrimSpace(tapDirective.ReplaceAllString(m[3], ""))
	if name == "" {
		name = "test " + m[2]
	}
	status := Passed
	switch {
	case tapDirective.MatchString(m[3]):
		status = Skipped
	case m[1] != "":
		status = Failed
	}
	if key := r.add(r.file, name, status); status == Failed {
		r.failed = key
	}
}

// endFile checks that the tests of a file are complete.
func (r *tapReader) endFile() {
	if r.seen != max(r.planned, 0) || r.planned < 0 && r.file != "" {
		name := r.file
		if name == "" {
			name = "the plan of the test run"
		}
		r.Broken = append(r.Broken, name)
	}
	r.planned, r.seen, r.failed = -1, 0, ""
}
