package record

import (
	"iter"

	"github.com/pawl-dev/pawl"
)

// PageSize bounds the events that a reader holds at once.
const PageSize = 256

// Pages yields the events after the given Seq, as read returns them: at most
// PageSize a call, fewer only at the log's end. Nothing is held open while the
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
