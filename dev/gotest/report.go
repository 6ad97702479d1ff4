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
	ImportPath string // in place of Package, on build output
	Test       string // empty: the event is about the package
	Elapsed    float64
	Output     string
}

// report counts the tests of a run and prints what a person wants to see of it.
type report struct {
	w       io.Writer
	verbose bool // print all output as it comes
	open    map[string]*pkg

	passed, failed, skipped int
	ends                    []string // of the tests that did not pass: what each said last
}

// pkg is a package whose tests are running.
type pkg struct {
	passed, failed, skipped int

	cached  bool
	output  []string
	running map[string][]string // test -> its output so far
}

func newReport(w io.Writer, verbose bool) *report {
	return &report{w: w, verbose: verbose, open: map[string]*pkg{}}
}

// line takes in a line of go test's output. A line that is not an event is printed as it is.
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

// endPackage counts a package in and prints its line.
func (r *report) endPackage(p *pkg, e event) {
	// A test that began and never ended was cut off by a panic, an exit or the timeout.
	for _, test := range slices.Sorted(maps.Keys(p.running)) {
		p.failed++
		r.show(p, "FAIL", e.Package, test)
	}
	if e.Action == "fail" && p.failed == 0 {
		// No test tells why: it did not build, or TestMain failed.
		p.failed++
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
	fmt.Fprintf(r.w, "%s %-60s %4d passed, %d failed, %d skipped  %s\n", word, e.Package, p.passed, p.failed, p.skipped, after)

	r.passed += p.passed
	r.failed += p.failed
	r.skipped += p.skipped
	delete(r.open, e.Package)
}

// show prints the output of a test that has ended, and forgets all but its end.
func (r *report) show(p *pkg, word, path, test string) {
	output := p.running[test]
	delete(p.running, test)
	if !r.verbose {
		fmt.Fprintf(r.w, "--- %s %s %s\n%s", word, path, test, strings.Join(output, ""))
	}
	r.ends = append(r.ends, fmt.Sprintf("%s %s %s\n%s", word, path, test, strings.Join(lastWords(output), "")))
}

// lastWords returns the last lines that a test printed: of one that was cut off those before the goroutines.
func lastWords(output []string) []string {
	if cut := slices.IndexFunc(output, func(line string) bool { return strings.HasPrefix(line, "panic: ") }); cut >= 0 {
		output = output[:cut+1]
	}
	return output[max(0, len(output)-lastLines):]
}

// lastLines are shown of a test that did not pass, at the end of the run.
const lastLines = 12

// close prints the ends of the tests that did not pass, as those of a long run are far above, and the closing line. It reports whether tests ran and all of them passed.
func (r *report) close() bool {
	for _, path := range slices.Sorted(maps.Keys(r.open)) {
		r.endPackage(r.open[path], event{Action: "fail", Package: path})
	}
	for _, end := range r.ends {
		fmt.Fprintf(r.w, "=> %s", end)
	}
	switch {
	case r.passed+r.failed+r.skipped == 0:
		fmt.Fprintln(r.w, "No test ran: that counts as a failure.")
	case r.failed == 0 && r.skipped > 0:
		fmt.Fprintln(r.w, "A test was skipped: that counts as a failure.")
	}
	fmt.Fprintf(r.w, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.passed > 0 && r.failed == 0 && r.skipped == 0
}
