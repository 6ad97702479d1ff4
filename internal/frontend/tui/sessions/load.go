package sessions

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
)

const (
	pageRows     = 40 // sessions per page
	prefetchRows = 10 // rows before the end from which on more are read

	maxLooked  = 10 // working sessions per page that are checked for asks
	tailEvents = 60 // events at the end that are read for that, and for the preview
)

// foundMsg is a page of the list.
type foundMsg struct {
	of     search
	rows   []pawl.Session
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

// next reads the page after the last row. Sessions with the same time are read again,
// because some of them may not be listed yet.
func (d *Dialog) next() tea.Cmd {
	if len(d.rows) == 0 {
		return nil
	}
	f := d.filter()
	f.Before = d.rows[len(d.rows)-1].Updated.Add(time.Microsecond) // the precision of the stores
	return d.ask(f, true)
}

func (d *Dialog) ask(f pawl.Filter, behind bool) tea.Cmd {
	d.loading, d.stale = true, false
	svc, ctx, of := d.shared.Service, d.shared.Context, d.search()
	return func() tea.Msg {
		rows, err := svc.List(ctx, f)
		return foundMsg{of, rows, behind, err}
	}
}

// found shows a page. The selection stays on its session if that is still listed.
func (d *Dialog) found(m foundMsg) tea.Cmd {
	d.loading = false
	if d.stale || m.of != d.search() {
		return d.load() // the query or the data has changed meanwhile
	}
	if m.err != nil {
		d.fault, d.more = m.err, false
		return nil
	}
	d.more = len(m.rows) == pageRows
	was, _ := d.session()
	same := d.loaded == m.of
	d.loaded = m.of
	if m.behind {
		return d.behind(m.rows)
	}
	d.rows = m.rows
	d.at, d.top = max(0, min(d.at, len(d.rows)-1)), 0
	if i := slices.IndexFunc(d.rows, func(s pawl.Session) bool { return s.ID == was.ID }); i >= 0 && same {
		d.at = i
	} else if !same {
		d.at = 0
	}
	return tea.Batch(d.asking(m.rows), d.loadPreview())
}

// behind appends a page.
func (d *Dialog) behind(rows []pawl.Session) tea.Cmd {
	known := map[pawl.SessionID]bool{}
	for _, s := range d.rows {
		known[s.ID] = true
	}
	rows = slices.DeleteFunc(rows, func(s pawl.Session) bool { return known[s.ID] })
	d.rows = append(d.rows, rows...)
	d.more = d.more && len(rows) > 0
	return tea.Batch(d.asking(rows), d.loadPreview())
}

// askingMsg says which working sessions wait for an answer.
type askingMsg struct{ asks map[pawl.SessionID]bool }

// asking reads the ends of working sessions: only the log says whether one waits for
// an answer.
func (d *Dialog) asking(rows []pawl.Session) tea.Cmd {
	var open []pawl.Session
	for _, s := range rows {
		if s.TurnOpen && len(open) < maxLooked {
			open = append(open, s)
		}
	}
	if len(open) == 0 {
		return nil
	}
	asks := map[pawl.SessionID]bool{}
	for id, is := range d.asks {
		asks[id] = is
	}
	svc, ctx := d.shared.Service, d.shared.Context
	return func() tea.Msg {
		for _, s := range open {
			events, err := tail(ctx, svc, s)
			asks[s.ID] = err == nil && waits(events) // if the log cannot be read, it counts as working
		}
		return askingMsg{asks}
	}
}

// tail reads the end of a session.
func tail(ctx context.Context, svc pawl.Service, s pawl.Session) ([]pawl.Event, error) {
	return eventfeed.Page(ctx, svc, s.ID, s.Head-tailEvents, s.Head)
}

// waits reports whether an ask is unanswered.
func waits(events []pawl.Event) bool {
	open := map[pawl.Seq]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Asked:
			open[e.Seq] = true
		case pawl.Answered:
			delete(open, b.Ask)
		case pawl.TurnFinished:
			clear(open)
		default: // no effect on asks
		}
	}
	return len(open) > 0
}
