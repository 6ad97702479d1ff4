package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	reruns    = 2  // a failed test must pass this often to count as flaky
	maxReruns = 20 // with more failures than this the change is broken, not the tests
)

// arguments are those of go test, split so that single tests can be run again.
type arguments struct {
	flags  []string // without the following, -v and -count
	chosen []string // -run and -skip
	rest   []string // -args and what follows
}

// valueFlags are the flags of go test that take a value in the next argument.
var valueFlags = map[string]bool{
	"run": true, "skip": true, "count": true, "tags": true, "timeout": true, "parallel": true, "p": true,
	"cpu": true, "exec": true, "shuffle": true, "overlay": true, "ldflags": true, "C": true,
}

// parseArgs splits the arguments of go test. Packages are left out: a rerun names its own.
func parseArgs(args []string) arguments {
	var a arguments
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-args" || arg == "--args" {
			a.rest = args[i:]
			break
		}
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		words := args[i : i+1]
		if valueFlags[name] && !hasValue && i+1 < len(args) {
			words = args[i : i+2]
			i++
		}
		switch name {
		case "run", "skip":
			a.chosen = append(a.chosen, words...)
		case "count", "v":
		default:
			a.flags = append(a.flags, words...)
		}
	}
	return a
}

// tags returns the value of -tags.
func (a arguments) tags() string {
	for i, flag := range a.flags {
		name, value, ok := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if name == "tags" && ok {
			return value
		}
		if name == "tags" && i+1 < len(a.flags) {
			return a.flags[i+1]
		}
	}
	return ""
}

// only returns the arguments that run the given tests of one package; no tests means all that were chosen.
func (a arguments) only(path string, tests []string) []string {
	args := append(slices.Clone(a.flags), "-count=1")
	if len(tests) == 0 {
		args = append(args, a.chosen...)
	} else {
		quoted := make([]string, len(tests))
		for i, t := range tests {
			quoted[i] = regexp.QuoteMeta(t)
		}
		args = append(args, "-run", "^("+strings.Join(quoted, "|")+")$")
	}
	return append(append(args, path), a.rest...)
}

// rerunFailed runs each failed test again, package by package. Those that pass every time move from the failed tests
// to the flaky ones. A package that ended early is run whole, as its other tests have not been run.
func rerunFailed(a arguments, r *report, goTest func([]string, *report) error) error {
	if len(r.failures) == 0 || len(r.failures) > maxReruns {
		return nil
	}
	byPackage := map[string][]string{}
	for _, f := range r.failures {
		if f.build {
			continue
		}
		byPackage[f.Package] = append(byPackage[f.Package], f.Test)
	}
	for _, path := range slices.Sorted(maps.Keys(byPackage)) {
		tests := byPackage[path]
		if r.early[path] {
			tests = nil
		}
		if err := rerunPackage(a, r, path, tests, goTest); err != nil {
			return err
		}
	}
	return nil
}

func rerunPackage(a arguments, r *report, path string, tests []string, goTest func([]string, *report) error) error {
	failed := map[string]bool{}
	whole := false // the package itself failed, not one of its tests
	for n := range reruns {
		fmt.Fprintf(r.w, "rerun %d of %d: %s %s\n", n+1, reruns, path, strings.Join(tests, " "))
		again := newReport(r.w, false)
		if err := goTest(a.only(path, tests), again); err != nil {
			return err
		}
		again.endAll()
		whole = whole || again.passed == 0 || again.skipped > 0
		for _, f := range again.failures {
			failed[f.Test] = true
			whole = whole || f.Test == "" || again.early[path]
		}
	}
	for i, f := range r.failures {
		if f.Package != path {
			continue
		}
		r.failures[i].flaky = !whole && !failed[f.Test]
		delete(failed, f.Test)
	}
	for _, test := range slices.Sorted(maps.Keys(failed)) { // the first run ended before this test
		r.fail(failure{Package: path, Test: test})
	}
	return nil
}

// summary is what GOTEST_REPORT gets.
type summary struct {
	Passed  int       `json:"passed"`
	Skipped int       `json:"skipped"`
	Failed  []failure `json:"failed,omitempty"`
	Flaky   []failure `json:"flaky,omitempty"`
}

func writeReport(r *report, a arguments) error {
	s := summary{Passed: r.passed, Skipped: r.skipped, Failed: r.broken(), Flaky: r.flaky()}
	if path := os.Getenv("GOTEST_REPORT"); path != "" {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := appendTo(path, string(line)+"\n"); err != nil {
			return err
		}
	}
	path := os.Getenv("GOTEST_FLAKY")
	if path == "" {
		return nil
	}
	for _, f := range s.Flaky {
		if err := appendTo(path, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Package, f.Test, a.tags()))+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // a report for anyone
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
