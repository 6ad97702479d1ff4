// Gotest runs go test, reruns what failed, and applies the project's rules: a skipped test fails the run, and so does
// a run without tests.
//
// Usage: go run ./dev/gotest [flags and packages for go test]
//
// It prints a line per package and the output of tests that failed or were skipped; with -v, all output. A failed test
// is run twice more. If it passes both times it is flaky: it is listed by name at the end and does not fail the run.
//
// With GOTEST_REPORT=FILE it appends a JSON object with the totals to FILE. With GOTEST_FLAKY=FILE it appends a line
// per flaky test, which dev/flaky reads.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run runs go test with the given arguments, reruns the failed tests and reports on w. It returns false if the run
// fails, and an error if go test could not be started or read.
func run(args []string, w io.Writer) (bool, error) {
	r := newReport(w, slices.Contains(args, "-v"))
	if err := goTest(args, r); err != nil {
		return false, err
	}
	r.endAll()
	if err := rerunFailed(parseArgs(args), r, goTest); err != nil {
		return false, err
	}
	good := r.close()
	return good, writeReport(r, parseArgs(args))
}

// goTest runs go test once and passes its events to r. A failing exit status without a failed test is an error:
// a wrong flag, an unknown package.
func goTest(args []string, r *report) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // the developer's arguments
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read go test: %w", err)
		}
	}
	if err := cmd.Wait(); err != nil && r.failed == 0 && len(r.open) == 0 {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}
