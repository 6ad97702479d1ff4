package sessions

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
)

const (
	pageRows     = 40 // sessions per page
	prefetchRows = 10 // rows before the end from which on more are read
	tailEvents   = 60 // events at the end that are read for the preview
)

// foundMsg is a page of the list.
type foundMsg struct {
	of search
	pawl.SessionPage
	used   pawl.Filter
	behind bool // it follows the current rows
	err    error
}

func (d *Dialog) search() search { return search{d.query, d.all} }

// filter returns the query for the service.
func (d *Dialog) filter() pawl.Filter {
	f := pawl.Filter{Query: d.query, Limit: pageRows}
	if !d.all {
		f.Dir = d.shared.Dir
	}
	return f
}

// load reads the first page. Only one query runs at a time: a changed query is sent
// when the result has arrived.
func (d *Dialog) load() tea.Cmd {
	if d.loading {
		d.stale = true
		return nil
	}
	return d.ask(d.filter(), false)
}

// next reads the page after the last row.
func (d *Dialog) next() tea.Cmd {
	f := d.used
	f.Cursor = d.cursor
	return d.ask(f, true)
}

func (d *Dialog) ask(f pawl.Filter, behind bool) tea.Cmd {
	d.loading, d.stale = true, false
	svc, ctx, of := d.shared.Service, d.shared.Context, d.search()
	return func() tea.Msg {
		page, err := svc.List(ctx, f)
		if err == nil && len(page.Sessions) == 0 && f.Query != "" { // no title or first prompt matches
			f.Query, f.Search = "", f.Query
			if page, err = svc.List(ctx, f); errors.Is(err, pawl.ErrInvalid) {
				page, err = pawl.SessionPage{}, nil // it has no words
			}
		}
		return foundMsg{of, page, f, behind, err}
	}
}

// found shows a page. The selection stays on its session if that is still listed.
func (d *Dialog) found(m foundMsg) tea.Cmd {
	d.loading = false
	if d.stale || m.of != d.search() {
		return d.load() // the query or the data has changed meanwhile
	}
	if m.err != nil {
		d.fault, d.cursor = m.err, ""
		return nil
	}
	d.used, d.cursor = m.used, m.Next
	was, _ := d.session()
	same := d.loaded == m.of
	d.loaded = m.of
	if m.behind {
		d.rows = append(d.rows, m.Sessions...)
		return d.loadPreview()
	}
	d.rows = m.Sessions
	d.at, d.top = max(0, min(d.at, len(d.rows)-1)), 0
	if i := slices.IndexFunc(d.rows, func(s pawl.Session) bool { return s.ID == was.ID }); i >= 0 && same {
		d.at = i
	} else if !same {
		d.at = 0
	}
	return d.loadPreview()
}

// tail reads the end of a session.
func tail(ctx context.Context, svc pawl.Service, s pawl.Session) ([]pawl.Event, error) {
	return eventfeed.Page(ctx, svc, s.ID, s.Head-tailEvents, s.Head)
}
