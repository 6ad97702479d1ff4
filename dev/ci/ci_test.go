package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	steps, err := parse("# a comment\n\nbuild: make build\nunit after=build: make unit\nbench after=build,unit: make bench\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(steps), "[{build [] make build} {unit [build] make unit} {bench [build unit] make bench}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	chosen, err := choose(steps, []string{"bench", "unit"})
	if got, want := fmt.Sprint(chosen, err), "[{unit [] make unit} {bench [unit] make bench}] <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := choose(steps, []string{"unti"}); err == nil {
		t.Error("an unknown step was chosen")
	}
	for _, bad := range []string{"build make", "a: x\na: y", "b after=a: x", "a lonely: x", ": x"} {
		if steps, err := parse(bad); err == nil {
			t.Errorf("%q: parsed as %v", bad, steps)
		}
	}
}

// TestSchedule checks that every step runs once, after its predecessors and within
// the limits, and that a failure skips only its successors.
func TestSchedule(t *testing.T) {
	t.Parallel()
	steps, err := parse("a: x\nb after=a: x\nc: fail\nd after=c: x\ne after=d: x\nf: x\ng after=b: x\nh: x")
	if err != nil {
		t.Fatal(err)
	}
	for jobs := 1; jobs <= 4; jobs++ {
		var mu sync.Mutex
		running, over := map[string]bool{}, map[string]bool{}
		results := schedule(steps, jobs, func(s step) result {
			mu.Lock()
			running[s.name] = true
			if len(running) > jobs {
				t.Errorf("%d jobs: %v run at once", jobs, running)
			}
			for _, name := range s.after {
				if !over[name] {
					t.Errorf("%d jobs: %s started before the end of %s", jobs, s.name, name)
				}
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				delete(running, s.name)
				over[s.name] = true
			}()
			if s.command == "fail" {
				return result{step: s, outcome: failed}
			}
			return result{step: s, outcome: passed}
		})
		var got []string
		for _, r := range results {
			got = append(got, r.name+" "+string(r.outcome))
		}
		want := "a passed, b passed, c FAILED, d not run, e not run, f passed, g passed, h passed"
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%d jobs: %s, want %s", jobs, text, want)
		}
	}
}

// TestRun checks that a run reports the failures of several steps, by name and with
// their output.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out strings.Builder
	var results []result
	for _, s := range []step{
		{name: "good", command: `echo fine; echo '{"passed":3,"flaky":[{"package":"p","test":"TestFlaky"}]}' >>$GOTEST_REPORT`},
		{name: "bad", command: `echo first reason; echo '{"passed":2,"failed":[{"package":"p","test":"TestBad"}]}' >>$GOTEST_REPORT; exit 1`},
		{name: "worse", command: `echo second reason; echo '{"passed":2}' >>$GOTEST_REPORT; echo '{"failed":[{"package":"q"}]}' >>$GOTEST_REPORT; false; true`},
	} {
		r := execute(s, dir, &out)
		r.took = 0 // not reproducible
		results = append(results, r)
	}
	if summarize(&out, dir, results, 61*time.Second) {
		t.Error("a run with failures passed")
	}
	want := `step             result       time   tests  flaky
good             passed        0 s       3      1
bad              FAILED        0 s       3      0
worse            FAILED        0 s       3      0
failed tests: 2
  bad: p TestBad
  worse: q
flaky tests: 1
  good: p TestFlaky
CI FAILED: 2 of 3 steps did not pass, 9 tests, 61 s
`
	text, err := os.ReadFile(filepath.Join(dir, "summary.txt"))
	if err != nil || string(text) != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, text, want)
	}
	for _, reason := range []string{"first reason", "second reason"} {
		if !strings.Contains(out.String(), reason) {
			t.Errorf("the output lacks %q:\n%s", reason, &out)
		}
	}
}
