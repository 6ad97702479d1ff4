package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// result is the outcome of a step.
type result struct {
	step
	outcome outcome
	took    time.Duration
	log     string // the path of its output
	tests   tests
}

// tests are the totals of the test runs of a step, as dev/gotest reports them.
type tests struct {
	Passed  int    `json:"passed"`
	Skipped int    `json:"skipped"`
	Failed  []test `json:"failed"`
	Flaky   []test `json:"flaky"`
}

type test struct {
	Package string `json:"package"`
	Test    string `json:"test"`
}

func (t test) String() string {
	if t.Test == "" {
		return t.Package
	}
	return t.Package + " " + t.Test
}

var printing sync.Mutex // keeps lines of concurrent steps intact

// execute runs a step with its output in a file and says on w when it starts and ends.
func execute(s step, dir string, w io.Writer) result {
	r := result{step: s, outcome: failed, log: filepath.Join(dir, s.name+".log")}
	say := func(format string, args ...any) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintf(w, time.Now().Format("15:04:05 ")+format+"\n", args...)
	}
	say("%s: %s", s.name, s.command)
	began := time.Now()
	report := filepath.Join(dir, s.name+".jsonl")
	err := shell(s, r.log, "GOTEST_REPORT="+report, "GOTEST_FLAKY="+filepath.Join(dir, "flaky.txt"))
	r.took = time.Since(began)
	counts, readErr := readTests(report)
	r.tests = counts
	if err = errors.Join(err, readErr); err != nil {
		say("%s: FAILED after %s: %v", s.name, seconds(r.took), err)
		return r
	}
	r.outcome = passed
	say("%s: passed, %s", s.name, seconds(r.took))
	return r
}

func shell(s step, log string, env ...string) error {
	out, err := os.Create(log) //nolint:gosec // below our own directory
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", s.command) //nolint:gosec // the plan's command
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// readTests adds up the reports of a step. A step without tests has none.
func readTests(path string) (tests, error) {
	var all tests
	f, err := os.Open(path) //nolint:gosec // below our own directory
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one tests
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
		all.Passed += one.Passed
		all.Skipped += one.Skipped
		all.Failed = append(all.Failed, one.Failed...)
		all.Flaky = append(all.Flaky, one.Flaky...)
	}
	return all, lines.Err()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds())) }
