package search

import "slices"

// top keeps the smallest of many values.
type top[T any] struct {
	limit   int
	compare func(a, b T) int
	kept    []T
}

// add adds a value. At most about twice the limit is held.
func (t *top[T]) add(v T) {
	if t.kept = append(t.kept, v); len(t.kept) >= 2*t.limit+16 {
		t.cut()
	}
}

func (t *top[T]) cut() {
	slices.SortFunc(t.kept, t.compare)
	t.kept = t.kept[:min(len(t.kept), t.limit)]
}

// values returns the kept values in order.
func (t *top[T]) values() []T {
	t.cut()
	return slices.Clone(t.kept)
}
