package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// Limits of a feed.
const (
	feedSessions = 100         // the newest sessions, which a client gets first; also those that are read at once
	feedKnown    = 2000        // sessions that are compared with what clients know
	feedChanges  = 512         // changes that are kept for clients that reconnect
	feedIdle     = time.Minute // how long a feed without clients is kept
)

// streamFeed streams changes of the newest sessions and of open asks.
func streamFeed(w *response, r *request) (any, error) {
	f := r.server.feeds.join(r)
	defer r.server.feeds.leave(f)
	select {
	case <-f.ready:
	case <-r.server.closing:
		return nil, errDraining
	case <-r.Context().Done():
		return nil, errWritten
	}
	out, done, err := openStream(w, r)
	if err != nil {
		return nil, err
	}
	defer done()
	cursor := r.query.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		cursor = last
	}
	r.follow(out, f, f.position(cursor))
	return nil, errWritten
}

// follow sends the changes of a feed until the client disconnects or the server closes.
func (r *request) follow(out *sse, f *feed, at int64) {
	heartbeat := time.NewTicker(r.server.Heartbeat)
	defer heartbeat.Stop()
	for {
		messages, newest, changed := f.since(at)
		for _, text := range messages {
			out.buf.Write(text)
		}
		if at = newest; r.Context().Err() != nil || out.flush() != nil { // a revoked token gets no more
			return
		}
		select {
		case <-changed:
		case <-heartbeat.C:
			if out.keepAlive() != nil {
				return
			}
		case <-r.server.closing:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// viewer is whose sessions a feed shows. Its clients see the same ones.
type viewer struct {
	tenant string
	user   pawl.User
}

// feeds are the feeds that have clients, or had some recently.
type feeds struct {
	mu    sync.Mutex
	of    map[viewer]*feed
	tasks sync.WaitGroup
}

// join returns the feed of the principal.
func (s *feeds) join(r *request) *feed {
	key := viewer{string(r.principal.Tenant), r.principal.User}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[viewer]*feed{}
	}
	f := s.of[key]
	if f == nil {
		f = newFeed(r.service)
		s.of[key] = f
		s.tasks.Go(func() { s.run(r.server, key, f) })
	}
	f.clients++
	return f
}

func (s *feeds) leave(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.clients--
	f.left = time.Now()
}

// run polls a feed until the server closes, or nobody has followed it for a while.
func (s *feeds) run(server *Server, key viewer, f *feed) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-server.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(server.FeedInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := f.poll(ctx); err != nil && ctx.Err() == nil {
			server.Log.Error("the feed could not be updated", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if s.remove(key, f) {
			return
		}
	}
}

// remove removes a feed that nobody has followed for a while.
func (s *feeds) remove(key viewer, f *feed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.clients > 0 || time.Since(f.left) < feedIdle {
		return false
	}
	delete(s.of, key)
	return true
}

// feed is what changes of the sessions of a viewer. Rows of the store are the truth: a feed compares them
// with those that its clients know, so that nothing is missed, whichever process made the change.
type feed struct {
	service pawl.Service
	name    string        // unique, so that a cursor of another feed is not taken for one of this
	ready   chan struct{} // closed after the first poll
	once    sync.Once
	clients int // guarded by feeds.mu, as left is
	left    time.Time

	rows map[pawl.SessionID]pawl.Session // that clients know, without Head; only poll uses it
	seen time.Time                       // the newest update of a session; only poll uses it
	asks map[pawl.SessionID]asking       // only poll uses it

	mu      sync.Mutex
	newest  int64    // number of the newest change
	changes [][]byte // the newest changes as they are sent
	whole   []byte   // everything, as it is sent to a new client
	changed chan struct{}
}

// asking are the open asks of a session when its row was read.
type asking struct {
	updated time.Time
	count   int
	open    []api.OpenAsk
}

func newFeed(svc pawl.Service) *feed {
	return &feed{
		service: svc, name: rand.Text(), ready: make(chan struct{}), changed: make(chan struct{}),
		rows: map[pawl.SessionID]pawl.Session{}, asks: map[pawl.SessionID]asking{},
	}
}

// position returns the number of the change that a cursor stands for; -1 if it is not of this feed.
func (f *feed) position(cursor string) int64 {
	name, number, _ := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || name != f.name {
		return -1
	}
	return n
}

// since returns the messages after a change, the number of the newest, and a channel that is closed when
// more happen. A client that lacks too much gets everything.
func (f *feed) since(at int64) (messages [][]byte, newest int64, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing := f.newest - at
	if at < 0 || missing < 0 || missing > int64(len(f.changes)) {
		return [][]byte{f.whole}, f.newest, f.changed
	}
	return f.changes[int64(len(f.changes))-missing:], f.newest, f.changed
}

// poll reads the rows and records what has changed.
func (f *feed) poll(ctx context.Context) error {
	rows, all, err := f.newestRows(ctx)
	if err != nil {
		return err
	}
	waiting, err := f.service.List(ctx, pawl.Filter{Asking: true, Limit: maxAsking})
	if err != nil {
		return err
	}
	c := f.compareRows(ctx, rows, all)
	if err := f.compareAsks(ctx, waiting.Sessions, &c); err != nil {
		return err
	}
	return f.record(c, rows[:min(len(rows), feedSessions)])
}

// newestRows returns the newest sessions, and at least those that were updated since the last poll; all
// reports whether there are no others.
func (f *feed) newestRows(ctx context.Context) (rows []pawl.Session, all bool, err error) {
	for cursor := ""; ; {
		page, err := f.service.List(ctx, pawl.Filter{Limit: feedSessions, Cursor: cursor})
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, page.Sessions...)
		if page.Next == "" {
			return rows, true, nil
		}
		if f.seen.IsZero() || rows[len(rows)-1].Updated.Before(f.seen) {
			return rows, false, nil
		}
		cursor = page.Next
	}
}

// record adds a change, unless nothing has changed.
func (f *feed) record(c api.FeedChange, rows []pawl.Session) error {
	first := f.whole == nil
	if !first && len(c.Sessions)+len(c.Deleted)+len(c.Asks)+len(c.Closed) == 0 {
		return nil
	}
	whole := api.FeedChange{Reset: true, Sessions: rows}
	for _, row := range f.asks {
		whole.Asks = append(whole.Asks, row.open...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest++
	text, err := f.encode(c)
	if err != nil {
		return err
	}
	if f.whole, err = f.encode(whole); err != nil {
		return err
	}
	f.changes = append(f.changes, text)
	if len(f.changes) > feedChanges {
		f.changes = append([][]byte(nil), f.changes[len(f.changes)-feedChanges:]...)
	}
	close(f.changed)
	f.changed = make(chan struct{})
	f.once.Do(func() { close(f.ready) })
	return nil
}

// encode returns a change as it is sent.
func (f *feed) encode(c api.FeedChange) ([]byte, error) {
	out := sse{}
	err := out.message(fmt.Sprintf("%s.%d", f.name, f.newest), c)
	return out.buf.Bytes(), err
}

// compareRows returns the rows that are new or changed, and the sessions that were deleted. The number of
// the newest event alone is not a change: it moves many times a second.
func (f *feed) compareRows(ctx context.Context, rows []pawl.Session, all bool) api.FeedChange {
	var c api.FeedChange
	have := map[pawl.SessionID]bool{}
	for _, row := range rows {
		have[row.ID] = true
		plain := row
		plain.Head = 0
		if old, ok := f.rows[row.ID]; !ok || !reflect.DeepEqual(old, plain) {
			c.Sessions = append(c.Sessions, row)
		}
		f.rows[row.ID] = plain
		if row.Updated.After(f.seen) {
			f.seen = row.Updated
		}
	}
	for id, old := range f.rows {
		older := !all && old.Updated.Before(rows[len(rows)-1].Updated)
		if have[id] || older && len(f.rows) <= feedKnown {
			continue
		}
		delete(f.rows, id)
		if _, err := f.service.Get(ctx, id); !older && errors.Is(err, pawl.ErrNotFound) {
			c.Deleted = append(c.Deleted, id)
		}
	}
	return c
}

// compareAsks adds the asks that were opened and closed since the last poll.
func (f *feed) compareAsks(ctx context.Context, rows []pawl.Session, c *api.FeedChange) error {
	now := map[pawl.SessionID]asking{}
	for _, row := range rows {
		old, ok := f.asks[row.ID]
		if ok && old.count == row.Asks && old.updated.Equal(row.Updated) {
			now[row.ID] = old
			continue
		}
		family, err := ancestors(ctx, f.service, row)
		if err != nil {
			return err
		}
		open, err := openAsks(ctx, f.service, row, family)
		if err != nil {
			return err
		}
		now[row.ID] = asking{row.Updated, row.Asks, open}
		c.Asks = append(c.Asks, without(open, old.open)...)
	}
	for id, old := range f.asks {
		for _, a := range without(old.open, now[id].open) {
			c.Closed = append(c.Closed, api.AskRef{Session: a.Session, Seq: a.Item.Seq})
		}
	}
	f.asks = now
	return nil
}

// without returns the asks of a list that are not in another one.
func without(list, other []api.OpenAsk) []api.OpenAsk {
	return slices.DeleteFunc(slices.Clone(list), func(a api.OpenAsk) bool {
		return slices.ContainsFunc(other, func(b api.OpenAsk) bool { return b.Session == a.Session && b.Item.Seq == a.Item.Seq })
	})
}
