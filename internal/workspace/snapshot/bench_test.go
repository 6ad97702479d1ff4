package snapshot

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTake measures a directory of 10,000 files: unchanged, and with one file that
// changes each time.
func BenchmarkTake(b *testing.B) {
	w := newEnv(b)
	w.files(10_000)
	started := time.Now()
	w.take()
	b.Logf("the first time: %v", time.Since(started))
	for w.racy() { // the files are older in each iteration
		w.take()
	}
	b.Run("unchanged", func(b *testing.B) { w.measure(b, func(int) {}) })
	b.Run("one changed", func(b *testing.B) {
		w.measure(b, func(n int) { w.write("d1/e10/f100.txt", fmt.Sprint(n)) })
	})
}

// measure also reports the fastest time and the CPU time of pawl and git, which depend
// less on other load of the machine.
func (w *env) measure(b *testing.B, change func(n int)) {
	n, fastest, used := 0, time.Hour, cpu(b)
	for b.Loop() {
		n++
		change(n)
		started := time.Now()
		w.take()
		fastest = min(fastest, time.Since(started))
	}
	b.ReportMetric(float64(fastest.Microseconds())/1000, "fastest-ms")
	b.ReportMetric(float64((cpu(b)-used).Microseconds())/1000/float64(n), "cpu-ms/op")
}

// cpu returns the CPU time of this process and of the child processes it has waited
// for.
func cpu(b *testing.B) (used time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		used += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return used
}

// racy reports whether the last snapshot has files that were too new to detect changes
// by their metadata.
func (w *env) racy() bool {
	w.t.Helper()
	f, err := w.store.lock(w.t.Context(), w.dir, exists)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.unlock()
	for _, t := range f.readTable().trees {
		for _, e := range t.entries {
			if e.look.racy {
				return true
			}
		}
	}
	return false
}
