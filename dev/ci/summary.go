package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxLogLines of a failed step are printed. The end of a log names the failures.
const maxLogLines = 400

// summarize prints the logs of failed steps, the table of steps, the failed and the flaky tests, and writes all but the
// logs to summary.txt. It reports whether every step passed.
func summarize(w io.Writer, dir string, results []result, took time.Duration) bool {
	for _, r := range results {
		if r.outcome == failed {
			fmt.Fprintf(w, "\n=== %s FAILED: the end of %s\n%s", r.name, r.log, tail(r.log))
		}
	}
	text := table(results, took)
	fmt.Fprint(w, "\n", text)
	if err := os.WriteFile(filepath.Join(dir, "summary.txt"), []byte(text), 0o644); err != nil { //nolint:gosec // for anyone
		fmt.Fprintln(w, "ci:", err)
		return false
	}
	return count(results, passed) == len(results)
}

// table is the summary of a run.
func table(results []result, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %-8s %8s %7s %6s\n", "step", "result", "time", "tests", "flaky")
	var broken, flaky []string
	ran := 0
	for _, r := range results {
		number, flakes := "", ""
		if n := r.tests.Passed + len(r.tests.Failed) + r.tests.Skipped; n > 0 {
			number, flakes = fmt.Sprint(n), fmt.Sprint(len(r.tests.Flaky))
			ran += n
		}
		fmt.Fprintf(&b, "%-16s %-8s %8s %7s %6s\n", r.name, r.outcome, seconds(r.took), number, flakes)
		for _, t := range r.tests.Failed {
			broken = append(broken, r.name+": "+t.String())
		}
		for _, t := range r.tests.Flaky {
			flaky = append(flaky, r.name+": "+t.String())
		}
	}
	list(&b, "failed tests", broken)
	list(&b, "flaky tests", flaky)
	verdict := "passed"
	if n := count(results, passed); n < len(results) {
		verdict = fmt.Sprintf("FAILED: %d of %d steps did not pass", len(results)-n, len(results))
	}
	fmt.Fprintf(&b, "CI %s, %d tests, %s\n", verdict, ran, seconds(took))
	return b.String()
}

func list(w io.Writer, title string, names []string) {
	if len(names) == 0 {
		fmt.Fprintf(w, "%s: none\n", title)
		return
	}
	fmt.Fprintf(w, "%s: %d\n", title, len(names))
	for _, name := range names {
		fmt.Fprintf(w, "  %s\n", name)
	}
}

// tail returns the last lines of a log.
func tail(path string) string {
	data, err := os.ReadFile(path) //nolint:gosec // below our own directory
	if err != nil {
		return err.Error() + "\n"
	}
	lines := strings.SplitAfter(string(data), "\n")
	if cut := len(lines) - maxLogLines; cut > 0 {
		return fmt.Sprintf("(%d lines before)\n%s", cut, strings.Join(lines[cut:], ""))
	}
	return string(data)
}
