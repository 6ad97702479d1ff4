package snapshot

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkTake measures a folder of 10,000 files: unchanged, and with a file
// that changes each time.
func BenchmarkTake(b *testing.B) {
	w := newWorld(b)
	w.files(10_000)
	started := time.Now()
	w.take()
	b.Logf("the first time: %v", time.Since(started))
	for w.racy() { // each look makes the files older
		w.take()
	}
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			w.take()
		}
	})
	b.Run("one changed", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			w.write("d1/e10/f100.txt", fmt.Sprint(n))
			w.take()
		}
	})
}

// racy reports whether the last snapshot has files in it that were too young
// to be told by their looks.
func (w *world) racy() bool {
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
