package httpapi

import (
	"cmp"
	"context"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Page sizes of listItems and streamItems.
const (
	defaultItems = 50
	maxItems     = 500
)

// itemLimit returns the requested number of items.
func (r *request) itemLimit() (int, error) {
	limit, err := r.limit()
	return min(cmp.Or(limit, defaultItems), maxItems), err
}

// fold returns the transcript of a session after an event of its log, up to its newest event.
func fold(ctx context.Context, svc pawl.Service, row pawl.Session, after pawl.Seq) (*transcript.Transcript, error) {
	t := transcript.New()
	if after >= row.Head {
		return t, nil
	}
	for e, err := range svc.Events(ctx, row.ID, after) {
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
	return t, ctx.Err()
}

// transcript returns the transcript of the session.
func (r *request) transcript() (*transcript.Transcript, error) {
	row, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	return fold(r.Context(), r.service, row, 0)
}

// listItems returns a page of the transcript.
func listItems(_ *response, r *request) (any, error) {
	limit, err := r.itemLimit()
	if err != nil {
		return nil, err
	}
	t, err := r.transcript()
	if err != nil {
		return nil, err
	}
	before := r.query.Get("before")
	page, more, ok := transcript.Page(t.Items(), before, limit)
	if !ok {
		return nil, fault.New(pawl.ErrNotFound, "item %q not found", before).Hint("It may have been undone: start again without before.")
	}
	return api.Items{Items: page, More: more}, nil
}

// getItem returns an item with its whole texts.
func getItem(_ *response, r *request) (any, error) {
	t, err := r.transcript()
	if err != nil {
		return nil, err
	}
	it, ok := t.Item(r.PathValue("item"))
	if !ok {
		return nil, fault.New(pawl.ErrNotFound, "item %.80q not found", r.PathValue("item")).Hint("It may have been undone.")
	}
	return it, nil
}

// streamItems streams the newest items of a session, and then what changes. A client that reconnects gets
// what it lacks.
func streamItems(w *response, r *request) (any, error) {
	after, err := r.afterSeq()
	if err != nil {
		return nil, err
	}
	limit, err := r.itemLimit()
	if err != nil {
		return nil, err
	}
	row, err := r.service.Get(r.Context(), r.id)
	if err != nil {
		return nil, err
	}
	out, done, err := openStream(w, r)
	if err != nil {
		return nil, err
	}
	defer done()
	s := &itemStream{sse: out, r: r, t: transcript.Track(), after: after, head: row.Head, limit: limit}
	(&eventStream{sse: out, add: s.add}).run(r, 0)
	return nil, errWritten
}

// itemStream turns the events of a session into messages about its items.
type itemStream struct {
	*sse
	r       *request
	t       *transcript.Tracked
	after   pawl.Seq // what the client has
	head    pawl.Seq // the newest event when the stream began
	limit   int      // items of the first message
	started bool     // the first message was written
}

// add adds the message about an event to the buffer. The first one is for all events up to the head.
func (s *itemStream) add(e pawl.Event) error {
	c := s.t.Apply(e)
	if !s.started {
		if s.t.Last() < s.head {
			return nil
		}
		s.started = true
		s.join()
		return s.message(s.id(), s.first())
	}
	id := ""
	if e.Seq > 0 {
		id = s.id()
	}
	if err := s.change(id, c); err != nil || !s.t.Missed() {
		return err
	}
	return s.change("", s.join())
}

func (s *itemStream) id() string { return strconv.FormatInt(int64(s.t.Last()), 10) }

// first returns the newest items, or what a client that reconnects lacks.
func (s *itemStream) first() api.ItemChange {
	if 0 < s.after && s.after <= s.head {
		if c := s.t.Since(s.after); len(c.Items) <= s.limit {
			return api.ItemChange{Change: c.Short()}
		}
	}
	page, more, _ := transcript.Page(s.t.Items(), "", s.limit)
	return api.ItemChange{Change: transcript.Change{Items: page}, Reset: true, More: more}
}

func (s *itemStream) change(id string, c transcript.Change) error {
	if c.Empty() {
		return nil
	}
	return s.message(id, api.ItemChange{Change: c.Short()})
}

// join adds the part of the current reply that was written before the stream began.
func (s *itemStream) join() transcript.Change {
	d, err := s.r.service.Draft(s.r.Context(), s.r.id)
	if err != nil {
		return transcript.Change{} // no reply is being written, or the complete one fills the gap
	}
	return s.t.Join(d)
}
