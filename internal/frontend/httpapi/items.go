package httpapi

import (
	"cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Page sizes of listItems.
const (
	defaultItems = 50
	maxItems     = 500
)

// listItems returns a page of the transcript.
func listItems(_ *response, r *request) (any, error) {
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	row, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	t := transcript.New()
	for e, err := range r.service.Events(r.Context(), r.id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq > 0 {
			t.Apply(e)
		}
		if e.Seq >= row.Head {
			break
		}
	}
	before := r.query.Get("before")
	page, more, ok := transcript.Page(t.Items(), before, min(cmp.Or(limit, defaultItems), maxItems))
	if !ok {
		return nil, fault.New(pawl.ErrNotFound, "item %q not found", before).Hint("It may have been undone: start again without before.")
	}
	return api.Items{Items: page, More: more}, nil
}
