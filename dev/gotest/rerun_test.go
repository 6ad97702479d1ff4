package main

import (
	"slices"
	"strings"
	"testing"
)

const (
	passA  = `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
	failA  = `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n"
	failAb = `{"Action":"run","Package":"p","Test":"TestA/b"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestA/b"}` + "\n"
	cutA   = `{"Action":"run","Package":"p","Test":"TestA"}` + "\n"
	passB  = `{"Action":"run","Package":"p","Test":"TestB"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestB"}` + "\n"
	failB  = `{"Action":"run","Package":"p","Test":"TestB"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestB"}` + "\n"
	ok     = `{"Action":"pass","Package":"p"}` + "\n"
	fail   = `{"Action":"fail","Package":"p"}` + "\n"
	build  = `{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}` + "\n" + fail
)

func TestRerun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		runs   []string // the output of each run of go test
		calls  []string // the arguments of each rerun
		failed string
		flaky  string
	}{
		{name: "nothing failed", runs: []string{passA + ok}},
		{
			name:  "passes twice: flaky",
			runs:  []string{failA + passB + fail, passA + ok, passA + ok},
			calls: []string{"-race -count=1 -run ^(TestA)$ p", "-race -count=1 -run ^(TestA)$ p"},
			flaky: "p TestA",
		},
		{name: "passes once: failed", runs: []string{failA + fail, passA + ok, failA + fail}, failed: "p TestA"},
		{name: "a subtest reruns its test", runs: []string{failAb + failA + fail, passA + ok, passA + ok}, flaky: "p TestA"},
		{name: "one of two", runs: []string{failA + failB + fail, passA + failB + fail, passA + failB + fail}, failed: "p TestB", flaky: "p TestA"},
		{
			name:  "cut off: the whole package runs again",
			runs:  []string{cutA + fail, passA + passB + ok, passA + passB + ok},
			calls: []string{"-race -count=1 p", "-race -count=1 p"},
			flaky: "p TestA",
		},
		{name: "cut off, and a test that had not run fails", runs: []string{cutA + fail, passA + failB + fail, passA + failB + fail}, failed: "p TestB", flaky: "p TestA"},
		{name: "cut off again", runs: []string{cutA + fail, passA + passB + ok, cutA + fail}, failed: "p TestA"},
		{name: "a rerun without tests proves nothing", runs: []string{failA + fail, ok, ok}, failed: "p TestA"},
		{name: "a build failure is not run again", runs: []string{build}, failed: "p"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			play := func(args []string, r *report) error {
				calls = append(calls, strings.Join(args, " "))
				for line := range strings.Lines(test.runs[len(calls)]) {
					r.line([]byte(line))
				}
				return nil
			}
			r := newReport(new(strings.Builder), false)
			for line := range strings.Lines(test.runs[0]) {
				r.line([]byte(line))
			}
			r.endAll()
			if err := rerunFailed(parseArgs([]string{"-race", "-count=1", "./..."}), r, play); err != nil {
				t.Fatal(err)
			}
			if test.calls != nil && !slices.Equal(calls, test.calls) {
				t.Errorf("reran %q, want %q", calls, test.calls)
			}
			if len(calls) != len(test.runs)-1 {
				t.Errorf("%d reruns, want %d", len(calls), len(test.runs)-1)
			}
			if got := names(r.broken()); got != test.failed {
				t.Errorf("failed: %q, want %q", got, test.failed)
			}
			if got := names(r.flaky()); got != test.flaky {
				t.Errorf("flaky: %q, want %q", got, test.flaky)
			}
			if good := r.close(); good != (test.failed == "") {
				t.Errorf("good = %v", good)
			}
		})
	}
}

func names(failures []failure) string {
	var all []string
	for _, f := range failures {
		all = append(all, f.String())
	}
	return strings.Join(all, ", ")
}

func TestManyFailuresAreNotRerun(t *testing.T) {
	t.Parallel()
	r := newReport(new(strings.Builder), false)
	for i := range maxReruns + 1 {
		r.fail(failure{Package: "p", Test: "Test" + strings.Repeat("A", i+1)})
	}
	err := rerunFailed(arguments{}, r, func([]string, *report) error { t.Fatal("rerun"); return nil })
	if err != nil || len(r.broken()) != maxReruns+1 {
		t.Errorf("%d failures, %v", len(r.broken()), err)
	}
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	a := parseArgs(strings.Fields("-tags sectest,fleet -count=1 -timeout 10m -run ^TestX$ -skip=Y -v -race ./a ./b -args -update"))
	if got, want := strings.Join(a.only("p", []string{"TestA", "TestB"}), " "), "-tags sectest,fleet -timeout 10m -race -count=1 -run ^(TestA|TestB)$ p -args -update"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := strings.Join(a.only("p", nil), " "), "-tags sectest,fleet -timeout 10m -race -count=1 -run ^TestX$ -skip=Y p -args -update"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := a.tags(); got != "sectest,fleet" {
		t.Errorf("tags = %q", got)
	}
}
