package search

import "slices"

// top keeps the first few of many values, in an order.
type top[T any] struct {
	limit   int
	compare func(a, b T) int
	kept    []T
}

// add takes a value. At most twice the limit is held.
func (t *top[T]) add(v T) {
	if t.kept = append(t.kept, v); len(t.kept) >= 2*t.limit+16 {
		t.cut()
	}
}

func (t *top[T]) cut() {
	slices.SortFunc(t.kept, t.compare)
	t.kept = t.kept[:min(len(t.kept), t.limit)]
}

// values returns the first values in order.
func (t *top[T]) values() []T {
	t.cut()
	return slices.Clone(t.kept)
}
