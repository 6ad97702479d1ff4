// Ci runs the steps of a CI run, some side by side, and reports all of their failures.
//
// Usage: go run ./dev/ci [flags] PLAN
//
// A plan is a text file with a line per step:
//
//	name [after=a,b]: command
//
// A step starts when those it comes after have passed. The output of each step is in dist/ci/NAME.log. Logs of failed
// steps are printed at the end, followed by a table of all steps, the names of the failed tests and the names of the
// flaky ones. The exit status is 1 if a step failed or did not run.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	jobs := flag.Int("jobs", runtime.NumCPU(), "run at most this many steps at once")
	only := flag.String("only", "", "run only these steps, separated by commas, whatever they come after")
	dir := flag.String("dir", "dist/ci", "write logs and reports to this directory")
	flag.Parse()
	if flag.NArg() != 1 || *jobs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ok, err := run(flag.Arg(0), *only, *dir, *jobs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ci:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(plan, only, dir string, jobs int) (bool, error) {
	text, err := os.ReadFile(plan) //nolint:gosec // named by the developer
	if err != nil {
		return false, err
	}
	steps, err := parse(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", plan, err)
	}
	if only != "" {
		if steps, err = choose(steps, strings.Split(only, ",")); err != nil {
			return false, err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // logs for anyone
		return false, err
	}
	began := time.Now()
	results := schedule(steps, jobs, func(s step) result { return execute(s, dir, os.Stdout) })
	return summarize(os.Stdout, dir, results, time.Since(began)), nil
}
