package tool

import (
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// BenchmarkBash compares a call of bash with the bare process, turn by turn, so
// that both see the same machine.
func BenchmarkBash(b *testing.B) {
	bash := Bash(NewJobs(nil, Unsandboxed{}))
	c := call(b.TempDir(), `{"command":"true"}`)
	ways := []struct {
		name  string
		run   func() error
		wall  time.Duration
		spent time.Duration
	}{
		{name: "bare", run: func() error {
			cmd := exec.Command("bash", "--noprofile", "--norc", "-c", "true")
			cmd.Dir = c.Dir
			cmd.Stdout, cmd.Stderr = struct{ io.Writer }{io.Discard}, struct{ io.Writer }{io.Discard}
			return cmd.Run()
		}},
		{name: "tool", run: func() error {
			_, err := try(b.Context(), bash, c)
			return err
		}},
	}
	for _, way := range ways { // starts the keeper, warms the caches
		if err := way.run(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i := range ways {
			spent, began := cpu(b), time.Now()
			if err := ways[i].run(); err != nil {
				b.Fatal(err)
			}
			ways[i].wall += time.Since(began)
			ways[i].spent += cpu(b) - spent
		}
	}
	for _, way := range ways {
		b.ReportMetric(float64(way.wall.Microseconds())/float64(b.N), way.name+"-us/op")
		b.ReportMetric(float64(way.spent.Microseconds())/float64(b.N), way.name+"-cpu-us/op")
	}
}

// cpu is what this process and its children have spent.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
