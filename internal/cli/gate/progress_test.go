package gate

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for want, p := range map[string]experiment.Progress{
		"1m 05s, preparing":                             {},
		"1m 05s: stage 1 of 7, checks: go-test on base": {Stage: "checks", Step: 1, Steps: 7, Running: []string{"go-test on base"}},
		"1m 05s: stage 7 of 7, mutants: 3 of 40 tried, 2m 10s left: test on mutant a.go and 1 more": {Stage: "mutants", Step: 7, Steps: 7, Tried: 3, Total: 40, Until: now.Add(130 * time.Second), Running: []string{"test on mutant a.go", "b"}},
		"1m 05s: stage 7 of 7, mutants: 3 of 40 tried, 0s left":                                     {Stage: "mutants", Step: 7, Steps: 7, Tried: 3, Total: 40, Until: now.Add(-time.Second)},
	} {
		if got := describe(p, 65*time.Second, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// stamped records when lines are written.
type stamped struct {
	lines []string
	times []time.Time
}

func (s *stamped) Write(p []byte) (int, error) {
	s.lines, s.times = append(s.lines, string(p)), append(s.times, time.Now())
	return len(p), nil
}

// TestProgressLines: without a terminal there is a line every 2 seconds, however long a run takes, and no more than that
// beside the results.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out stamped
		start := time.Now()
		p := newProgress(&out)
		time.Sleep(5 * time.Second) // on the fake clock: the gate prepares
		p.update(experiment.Progress{Stage: "checks", Step: 1, Steps: 7, Running: []string{"test on base"}})
		time.Sleep(20 * time.Second) // on the fake clock: a run
		p.ran(pawl.CheckRun{Check: "test", On: "base"})
		time.Sleep(time.Second) // on the fake clock
		p.stop()
		last := start
		for i, at := range append(out.times, time.Now()) {
			if gap := at.Sub(last); gap > 2*time.Second {
				t.Errorf("nothing was written for %s before line %d of %q", gap, i, out.lines)
			}
			last = at
		}
		all := strings.Join(out.lines, "")
		if n := len(out.lines); n > 22 || !strings.Contains(all, "pawl: 4s, preparing\n") || !strings.Contains(all, "stage 1 of 7, checks: test on base\n") || !strings.Contains(all, "pawl: test on base: passed") {
			t.Errorf("%d lines: %s", n, all)
		}
	})
}
