package gateway

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/model"
)

// BenchmarkDelta measures the CPU time of a delta on both sides, compared to a local model: as fast as possible, and at
// the pace of a provider.
func BenchmarkDelta(b *testing.B) {
	const deltas = 2000
	for _, pace := range []struct {
		name string
		wait time.Duration
	}{{"fast", 0}, {"paced", 200 * time.Microsecond}} {
		m := stream(func(_ context.Context, _ model.Request, yield func(model.Chunk, error) bool) {
			for range deltas {
				if pace.wait > 0 {
					time.Sleep(pace.wait) // the pace of a model
				}
				if !yield(text("some words "), nil) {
					return
				}
			}
			yield(finish, nil)
		})
		for where, m := range map[string]model.Model{"here": m, "there": serve(b, Config{Open: only(m)}).model("m")} {
			b.Run(pace.name+"/"+where, func(b *testing.B) {
				before, calls := processor(b), 0
				for b.Loop() {
					chunks, err := read(b.Context(), m, model.Request{})
					if err != nil || len(chunks) != deltas+1 {
						b.Fatal(len(chunks), err)
					}
					calls++
				}
				b.ReportMetric(float64(processor(b)-before)/float64(time.Microsecond)/float64(calls*deltas), "cpu-µs/delta")
			})
		}
	}
}

// processor returns the CPU time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
