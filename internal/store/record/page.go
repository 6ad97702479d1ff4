package record

import (
	"iter"

	"github.com/pawl-dev/pawl"
)

// PageSize is the maximum number of events that a reader holds in memory.
const PageSize = 256

// Pages yields the events after the given Seq. It calls read for one page at a time;
// a page of fewer than PageSize events is the last one. Nothing stays open while the
// caller works on a page.
func Pages(after pawl.Seq, read func(after pawl.Seq) ([]pawl.Event, error)) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for last := after; ; {
			page, err := read(last)
			if err != nil {
				yield(pawl.Event{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				last = e.Seq
			}
			if len(page) < PageSize {
				return
			}
		}
	}
}
