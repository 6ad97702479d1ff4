package patch

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// find finds what a plain comparison finds.
func TestFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", " a", "c"})
		lines := rapid.SliceOfN(line, 0, 30).Draw(t, "file")
		pattern := rapid.SliceOfN(line, 1, 4).Draw(t, "pattern")
		file := ""
		for _, l := range lines {
			file += l + "\n"
		}
		hunk := Hunk{Headers: []string{"c"}}
		for _, l := range pattern {
			hunk.Lines = append(hunk.Lines, Line{Removed, l})
		}
		f := newFinder(cut(file), []Hunk{hunk})
		for l := edit.LineExact; l <= looseLevel; l++ {
			see := func(lines []string) []string {
				seen := slices.Clone(lines)
				for i := range seen {
					seen[i] = lineKey(seen[i], l)
				}
				return seen
			}
			var want []int
			for i := range lines {
				if i+len(pattern) <= len(lines) && slices.Equal(see(lines[i:i+len(pattern)]), see(pattern)) {
					want = append(want, i)
				}
			}
			if diff := cmp.Diff(want, f.find(pattern, l)); diff != "" {
				t.Fatalf("level %d: %s", l, diff)
			}
		}
	})
}
