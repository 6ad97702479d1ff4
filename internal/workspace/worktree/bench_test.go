package worktree

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// large returns a repository of 10,000 files of 2 KB, in 500 directories.
func large(b *testing.B) *env {
	files := map[string]string{}
	for n := range 10_000 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", n%10, n%500, n)] = strings.Repeat(fmt.Sprintf("line %d\n", n), 2000/(6+len(fmt.Sprint(n))))
	}
	w := newEnv(b, files)
	w.git("repack", "-adq")
	return w
}

// BenchmarkMake measures ten worktrees of 10,000 files. It removes none in between:
// ext4 creates files slowly for half a minute after as many were deleted.
func BenchmarkMake(b *testing.B) {
	w := large(b)
	for _, places := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d of 10000", places), func(b *testing.B) {
			fastest, n, used := time.Hour, 0, cpu(b)
			for b.Loop() {
				n++
				var names []string
				for i := range places {
					names = append(names, fmt.Sprintf("w%d-%d-%d-%d", places, b.N, n, i))
				}
				start := time.Now()
				if err := w.trees.Make(b.Context(), "main", names...); err != nil {
					b.Fatal(err)
				}
				fastest = min(fastest, time.Since(start))
			}
			b.ReportMetric(float64(fastest.Milliseconds()), "fastest-ms")
			b.ReportMetric(float64((cpu(b)-used).Milliseconds())/float64(n), "cpu-ms/op")
		})
	}
}

// BenchmarkCollect measures a worktree of 10,000 files of which ten have changed.
func BenchmarkCollect(b *testing.B) {
	w := large(b)
	dir := w.make("w")
	fastest, n := time.Hour, 0
	for b.Loop() {
		n++
		for i := range 10 {
			w.write(filepath.Join(dir, fmt.Sprintf("new%d", i)), fmt.Sprint(n, i))
		}
		start := time.Now()
		if h := w.collect("w", "main"); len(h.Changes) != 10 {
			b.Fatalf("%d changes", len(h.Changes))
		}
		fastest = min(fastest, time.Since(start))
	}
	b.ReportMetric(float64(fastest.Milliseconds()), "fastest-ms")
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
