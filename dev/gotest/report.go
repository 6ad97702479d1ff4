package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of go test -json; `go doc test2json` describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string // instead of Package, on build output
	Test       string // empty if the event is about the package
	Elapsed    float64
	Output     string
}

// failure is a top-level test that failed. Test is empty if the package failed without one: it did not build, or
// TestMain failed.
type failure struct {
	Package string `json:"package"`
	Test    string `json:"test,omitempty"`

	build bool // nothing ran, so a rerun cannot help
	flaky bool // it passed when it was run again
}

func (f failure) String() string { return strings.TrimSpace(f.Package + " " + f.Test) }

// report counts the tests of a run and prints the parts that matter to a developer.
type report struct {
	w       io.Writer
	verbose bool // print all output as it comes
	open    map[string]*pkg

	passed, failed, skipped int // subtests included
	failures                []failure
	early                   map[string]bool // packages that ended before all of their tests had run
	ends                    []ending        // the last lines of tests that did not pass
}

// ending is the last output of a test that did not pass.
type ending struct {
	failure
	word   string
	output string
}

// pkg is a package whose tests are running.
type pkg struct {
	passed, failed, skipped int

	cached  bool
	output  []string
	running map[string][]string // test -> its output so far
}

func newReport(w io.Writer, verbose bool) *report {
	return &report{w: w, verbose: verbose, open: map[string]*pkg{}, early: map[string]bool{}}
}

// line handles a line of go test's output. A line that is not an event is printed as it is.
func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		fmt.Fprintf(r.w, "%s\n", strings.TrimSuffix(string(line), "\n"))
		return
	}
	if e.Action == "build-output" {
		fmt.Fprint(r.w, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := r.open[e.Package]
	if p == nil {
		p = &pkg{running: map[string][]string{}}
		r.open[e.Package] = p
	}
	if e.Test == "" {
		r.packageEvent(p, e)
	} else {
		r.testEvent(p, e)
	}
}

func (r *report) testEvent(p *pkg, e event) {
	switch e.Action {
	case "run":
		p.running[e.Test] = nil
	case "output":
		if r.verbose {
			fmt.Fprint(r.w, e.Output)
		}
		if strings.HasPrefix(e.Output, "=== ") {
			return // RUN, PAUSE, CONT: our own line names the test
		}
		p.running[e.Test] = append(p.running[e.Test], e.Output)
	case "pass":
		p.passed++
		delete(p.running, e.Test)
	case "fail":
		p.failed++
		r.show(p, "FAIL", e.Package, e.Test)
	case "skip":
		p.skipped++
		r.show(p, "SKIP", e.Package, e.Test)
	}
}

func (r *report) packageEvent(p *pkg, e event) {
	switch e.Action {
	case "output":
		p.cached = p.cached || strings.Contains(e.Output, "\t(cached)")
		p.output = append(p.output, e.Output)
	case "pass", "fail", "skip":
		r.endPackage(p, e)
	}
}

// endPackage adds a package to the totals and prints its line.
func (r *report) endPackage(p *pkg, e event) {
	// A test that started and did not end was cut off by a panic, an exit or the timeout.
	for _, test := range slices.Sorted(maps.Keys(p.running)) {
		p.failed++
		r.early[e.Package] = true
		r.show(p, "FAIL", e.Package, test)
	}
	if e.Action == "fail" && p.failed == 0 {
		// The package did not build, or TestMain failed.
		p.failed++
		r.fail(failure{Package: e.Package, build: p.passed == 0})
		fmt.Fprint(r.w, strings.Join(p.output, ""))
	}

	word, after := "ok  ", fmt.Sprintf("%.2fs", e.Elapsed)
	switch {
	case p.failed > 0:
		word = "FAIL"
	case p.skipped > 0:
		word = "SKIP"
	case p.passed == 0:
		word, after = "-   ", "no tests"
	case p.cached:
		after = "cached"
	}
	if word != "-   " {
		fmt.Fprintf(r.w, "%s %-60s %4d passed, %d failed, %d skipped  %s\n", word, e.Package, p.passed, p.failed, p.skipped, after)
	}

	r.passed += p.passed
	r.failed += p.failed
	r.skipped += p.skipped
	delete(r.open, e.Package)
}

// fail records a failure once.
func (r *report) fail(f failure) {
	f.Test, _, _ = strings.Cut(f.Test, "/")
	if !slices.Contains(r.failures, f) {
		r.failures = append(r.failures, f)
	}
}

// show prints the output of a test that did not pass, and keeps only its end.
func (r *report) show(p *pkg, word, path, test string) {
	output := p.running[test]
	delete(p.running, test)
	f := failure{Package: path, Test: test}
	if word == "FAIL" {
		r.fail(f)
	}
	if !r.verbose {
		fmt.Fprintf(r.w, "--- %s %s\n%s", word, f, strings.Join(output, ""))
	}
	r.ends = append(r.ends, ending{failure: f, word: word, output: strings.Join(lastLines(output), "")})
}

// lastLines returns the last lines that a test printed; for a test that was cut off, those before the goroutine dump.
func lastLines(output []string) []string {
	if cut := slices.IndexFunc(output, func(line string) bool { return strings.HasPrefix(line, "panic: ") }); cut >= 0 {
		output = output[:cut+1]
	}
	return output[max(0, len(output)-maxLastLines):]
}

// maxLastLines are repeated at the end of the run for each test that did not pass.
const maxLastLines = 12

// endAll ends packages that go test did not: it was killed, or its output was cut off.
func (r *report) endAll() {
	for _, path := range slices.Sorted(maps.Keys(r.open)) {
		r.early[path] = true
		r.endPackage(r.open[path], event{Action: "fail", Package: path})
	}
}

// broken returns the failures that count.
func (r *report) broken() []failure {
	return slices.DeleteFunc(slices.Clone(r.failures), func(f failure) bool { return f.flaky })
}

// flaky returns the tests that failed and then passed.
func (r *report) flaky() []failure {
	return slices.DeleteFunc(slices.Clone(r.failures), func(f failure) bool { return !f.flaky })
}

// close prints the ends of the tests that did not pass, because those of a long run are far above, the flaky tests and
// the totals. It reports whether tests ran and all of them passed.
func (r *report) close() bool {
	r.endAll()
	for _, e := range r.ends {
		fmt.Fprintf(r.w, "=> %s %s\n%s", e.word, e.failure, e.output)
	}
	switch {
	case r.passed+r.failed+r.skipped == 0:
		fmt.Fprintln(r.w, "No test ran: that counts as a failure.")
	case len(r.broken()) == 0 && r.skipped > 0:
		fmt.Fprintln(r.w, "A test was skipped: that counts as a failure.")
	}
	for _, f := range r.flaky() {
		fmt.Fprintf(r.w, "FLAKY %s: failed, then passed %d times\n", f, reruns)
	}
	fmt.Fprintf(r.w, "%d passed, %d failed, %d skipped, %d flaky\n", r.passed, r.failed, r.skipped, len(r.flaky()))
	return r.passed+len(r.flaky()) > 0 && len(r.broken()) == 0 && r.skipped == 0
}
