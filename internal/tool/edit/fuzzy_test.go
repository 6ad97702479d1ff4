package edit

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Both ways to find a block find what a plain comparison finds.
func TestIndexFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c"})
		file := rapid.SliceOfN(line, 0, 30).Draw(t, "file")
		block := rapid.SliceOfN(line, 1, 4).Draw(t, "block")
		var want []int
		for i := range file {
			if i+len(block) <= len(file) && slices.Equal(file[i:i+len(block)], block) {
				want = append(want, i)
			}
		}
		x := NewIndex(block, len(file), func(i int) string { return file[i] })
		ids := x.IDs(block)
		if diff := cmp.Diff(want, x.Find(ids, 0)); diff != "" {
			t.Fatalf("Find: %s", diff)
		}
		if diff := cmp.Diff(want, findSequence(x.file, ids, 0)); diff != "" {
			t.Fatalf("findSequence: %s", diff)
		}
		if got := x.Find(ids, 1); len(got) != min(len(want), 1) {
			t.Fatalf("Find with a limit of 1 found %v", got)
		}
	})
}
