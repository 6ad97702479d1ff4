package ratelimit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPool: what calls answer, one letter each, and the limit after each of them.
// g went well, r was refused; G and R began before the last cut.
func TestPool(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		most    int
		answers string
		limits  []int
	}{
		{"never above the most", 2, "ggggg", []int{2, 2, 2, 2, 2}},
		{"half, and half again", 8, "rrr", []int{4, 2, 1}},
		{"never below one", 3, "rrrr", []int{1, 1, 1, 1}},
		{"calls that are refused together are one reason", 8, "rRRRR", []int{4, 4, 4, 4, 4}},
		{"one more after a limit's worth", 8, "rggggggggg", []int{4, 4, 4, 4, 5, 5, 5, 5, 5, 6}},
		{"what went well before a cut counts no more", 8, "rgggrggg", []int{4, 4, 4, 4, 2, 2, 3, 3}},
		{"what began before the cut says nothing of it", 8, "rrGGGGGG", []int{4, 2, 2, 2, 2, 2, 2, 2}},
		{"from one", 2, "rgg", []int{1, 2, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPool("p", tt.most)
			var got []int
			for _, a := range tt.answers {
				switch a {
				case 'g':
					p.grow(p.cuts)
				case 'G':
					p.grow(p.cuts - 1)
				case 'r':
					p.cut(p.cuts)
				case 'R':
					p.cut(p.cuts - 1)
				}
				got = append(got, p.limit)
			}
			if diff := cmp.Diff(tt.limits, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
