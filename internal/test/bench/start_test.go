//go:build bench

// Package bench measures the program and prints what it finds; it fails where
// a promise is not kept. Times here are noisy: things are compared within one
// run, and medians are taken.
package bench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(manyVar) != "":
		os.Exit(manyMain())
	case os.Getenv(readVar) != "":
		os.Exit(readMain())
	case os.Getenv(loopVar) != "":
		os.Exit(loopMain())
	case os.Getenv(bareVar) != "":
		os.Exit(bareMain())
	case os.Getenv(searchVar) != "":
		os.Exit(searchMain())
	}
	os.Exit(m.Run())
}

// cost is what a process and the children it waited for used.
type cost struct {
	cpu  time.Duration
	rss  int64 // peak, bytes
	wall time.Duration
}

// measure runs pawl so many times and returns the medians.
func measure(t *testing.T, b *harness.Workdir, runs int, args ...string) cost {
	t.Helper()
	var all []cost
	for range runs {
		cmd := b.Command(args...)
		began := time.Now()
		if out := harness.Wait(t, cmd); out.Code != 0 {
			t.Fatalf("exit %d: %s", out.Code, out.Stderr)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		all = append(all, cost{
			cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
			rss:  used.Maxrss << 10,
			wall: time.Since(began),
		})
	}
	return cost{
		cpu:  median(all, func(c cost) time.Duration { return c.cpu }),
		rss:  median(all, func(c cost) int64 { return c.rss }),
		wall: median(all, func(c cost) time.Duration { return c.wall }),
	}
}

func median[T any, N ~int64](list []T, of func(T) N) N {
	values := make([]N, len(list))
	for i, v := range list {
		values[i] = of(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// TestBenchStart: starting costs next to nothing.
func TestBenchStart(t *testing.T) { //nolint:paralleltest // it measures time
	const maxCPU, maxRSS = 80 * time.Millisecond, 50 << 20
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", `{"text":"hello"}`+"\n")
	info, err := os.Stat(b.Bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("binary: %.1f MB", mb(info.Size()))
	for _, args := range [][]string{
		{"version"},
		{"run", "--mode", "yolo", "--model", "script:s.jsonl", "hi"},
	} {
		c := measure(t, b, 21, args...)
		t.Logf("pawl %-7s  CPU %s  peak RSS %.1f MB  wall %s   (at most %s, %d MB)",
			args[0], ms(c.cpu), mb(c.rss), ms(c.wall), maxCPU, maxRSS>>20)
		if c.cpu > maxCPU {
			t.Logf("over the goal: pawl %s takes %s of CPU", args[0], ms(c.cpu))
		}
		if c.rss > maxRSS {
			t.Errorf("pawl %s takes %.1f MB", args[0], mb(c.rss))
		}
	}
}

// TestBenchShell: a run of 100 shell commands, for comparison with other agents.
func TestBenchShell(t *testing.T) { //nolint:paralleltest // it measures time
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	var script strings.Builder
	for i := range 100 { // no two alike: that would be a loop
		fmt.Fprintf(&script, `{"calls":[{"name":"bash","input":{"command":"true %d"}}]}`+"\n", i)
	}
	b.Write(t, "s.jsonl", script.String()+`{"text":"done"}`+"\n")
	c := measure(t, b, 3, "run", "--mode", "yolo", "--model", "script:s.jsonl", "hi")
	t.Logf("100 shell commands: CPU %.2f s  peak RSS %.1f MB  wall %.2f s", c.cpu.Seconds(), mb(c.rss), c.wall.Seconds())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mb(n int64) float64 { return float64(n) / (1 << 20) }
