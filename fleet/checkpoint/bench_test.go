package checkpoint

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCheckpoint uses a workspace of 10,000 files of about 4 KiB.
func BenchmarkCheckpoint(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	h := newHost(ctx, b, dir+"/a", openBlobs(b, dir))
	for i := range 10_000 {
		h.write(fmt.Sprintf("d%d/e%d/file%d.go", i%10, i%100, i), strings.Repeat(fmt.Sprintf("line %d of a file\n", i*7919), 200))
	}
	report := func(b *testing.B, s Stats) {
		b.ReportMetric(float64(s.Sent), "sent-bytes")
		b.ReportMetric(float64(s.Read), "files-read")
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			h.must(h.k.Drop(ctx, key))
			_, s := h.save("")
			report(b, s)
		}
	})
	id, _ := h.save("")
	h.age()
	id, _ = h.save(id)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			_, s := h.save(id)
			report(b, s)
		}
	})
	n := 0
	b.Run("10 changed", func(b *testing.B) {
		var s Stats
		for b.Loop() {
			for i := range 10 {
				h.write(fmt.Sprintf("d%d/e%d/file%d.go", i%10, i%100, i), strings.Repeat(fmt.Sprintf("change %d of %d\n", n, i), 200))
			}
			n++
			id, s = h.save(id)
		}
		report(b, s)
	})
	b.Run("restore", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			other := newHost(ctx, b, fmt.Sprintf("%s/b%d-%d", dir, b.N, i), h.k.Blobs)
			other.restore(id)
		}
	})
}
