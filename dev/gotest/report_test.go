package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		verbose bool
		events  string
		want    string
		good    bool
	}{{
		name: "all pass: quiet",
		events: `
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.5s\n"}
{"Action":"pass","Package":"p","Elapsed":0.5}`,
		want: `
ok   p                                                               1 passed, 0 failed, 0 skipped  0.50s
1 passed, 0 failed, 0 skipped, 0 flaky
`,
		good: true,
	}, {
		name:    "verbose: the output of passing tests too",
		verbose: true,
		events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"1234 appends/s\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.5}`,
		want: `
1234 appends/s
ok   p                                                               1 passed, 0 failed, 0 skipped  0.50s
1 passed, 0 failed, 0 skipped, 0 flaky
`,
		good: true,
	}, {
		name: "a failure shows its own output only",
		events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"got 1, want 2\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Elapsed":0.5}`,
		want: `
--- FAIL p TestB
got 1, want 2
FAIL p                                                               1 passed, 1 failed, 0 skipped  0.50s
=> FAIL p TestB
got 1, want 2
1 passed, 1 failed, 0 skipped, 0 flaky
`,
	}, {
		name: "a skip fails the run and says why",
		events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no database\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.5}`,
		want: `
--- SKIP p TestA
    a_test.go:3: no database
SKIP p                                                               0 passed, 0 failed, 1 skipped  0.50s
=> SKIP p TestA
    a_test.go:3: no database
A test was skipped: that counts as a failure.
0 passed, 0 failed, 1 skipped, 0 flaky
`,
	}, {
		name: "a package without tests is no test",
		events: `
{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}
{"Action":"skip","Package":"p"}`,
		want: `
No test ran: that counts as a failure.
0 passed, 0 failed, 0 skipped, 0 flaky
`,
	}, {
		name: "a build failure counts and is shown",
		events: `
{"Action":"build-output","ImportPath":"p [p.test]","Output":"p.go:1: syntax error\n"}
{"Action":"build-fail","ImportPath":"p [p.test]"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
		want: `
p.go:1: syntax error
FAIL	p [build failed]
FAIL p                                                               0 passed, 1 failed, 0 skipped  0.00s
0 passed, 1 failed, 0 skipped, 0 flaky
`,
	}, {
		name:    "a test that never ended has failed, and its end tells what it did, not where its goroutines were",
		verbose: true,
		events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"it waits\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"goroutine 1\n"}
{"Action":"fail","Package":"p","Elapsed":0.5}`,
		want: `
it waits
panic: test timed out
goroutine 1
FAIL p                                                               0 passed, 1 failed, 0 skipped  0.50s
=> FAIL p TestA
it waits
panic: test timed out
0 passed, 1 failed, 0 skipped, 0 flaky
`,
	}, {
		name: "a package that never ended has failed, and other lines pass through",
		events: `
not an event
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}`,
		want: `
not an event
FAIL p                                                               1 passed, 1 failed, 0 skipped  0.00s
1 passed, 1 failed, 0 skipped, 0 flaky
`,
	}, {
		name: "cached",
		events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}
{"Action":"pass","Package":"p","Elapsed":0.01}`,
		want: `
ok   p                                                               1 passed, 0 failed, 0 skipped  cached
1 passed, 0 failed, 0 skipped, 0 flaky
`,
		good: true,
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out, test.verbose)
			for line := range strings.Lines(strings.TrimPrefix(test.events, "\n")) {
				r.line([]byte(line))
			}
			if good := r.close(); good != test.good {
				t.Errorf("good = %v, want %v", good, test.good)
			}
			if want := strings.TrimPrefix(test.want, "\n"); out.String() != want {
				t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
			}
		})
	}
}
