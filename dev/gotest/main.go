// Gotest runs go test and holds its outcome to our rule: a skipped test is a failed run, and so is a run without tests.
//
// Usage: go run ./dev/gotest [flags and packages for go test]
//
// It prints a line per package and the output of the tests that failed or were skipped; with -v, all output.
// The last line is "N passed, N failed, N skipped".
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

// run runs go test with the given arguments and reports on w. It returns false if the run breaks our rule,
// and an error if go test could not be run or read.
func run(args []string, w io.Writer) (bool, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}

	r := newReport(w, slices.Contains(args, "-v"))
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
			return false, fmt.Errorf("read go test: %w", err)
		}
	}

	err = cmd.Wait()
	good := r.close()
	// A failing exit that no event explains: bad flags, an unknown package.
	if err != nil && r.failed == 0 {
		return false, fmt.Errorf("go test: %w", err)
	}
	return good && err == nil, nil
}
