package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Position is where a page of a list ended. Rows are ordered by the time of their newest
// update up to Start, not by the newest of all, so that a row keeps its position
// while a client reads page by page.
type Position struct {
	Start time.Time // when the first row of the list was updated
	At    time.Time // when the last row of the page was updated, as of Start
	ID    pawl.SessionID
}

// Placed is a row of a list with its time as of the start of the list.
type Placed struct {
	pawl.Session
	At    time.Time
	Match pawl.Seq // the newest event that the search has found; 0 without a search
}

// List is a checked and normalized [pawl.Filter].
type List struct {
	pawl.Filter
	After  *Position // nil on the first page
	Search Search    // nil without a search

	tenant store.Tenant
}

// NewList checks and normalizes a filter.
func NewList(ctx context.Context, f pawl.Filter) (List, error) {
	l := List{Filter: normalize(f), tenant: store.TenantOf(ctx)}
	if _, known := States[f.State]; f.State != "" && !known {
		return l, fault.New(pawl.ErrInvalid, "unknown state %.40q: use idle, queued, running, asking or failed", f.State)
	}
	if f.Search != "" {
		var err error
		if l.Search, err = ParseSearch(f.Search); err != nil {
			return l, err
		}
	}
	if f.Cursor == "" {
		return l, nil
	}
	after, err := l.parse(f.Cursor)
	l.After = &after
	return l, err
}

// Page returns the page of rows that a store has read, up to one more than the limit.
func (l List) Page(rows []Placed) pawl.SessionPage {
	var page pawl.SessionPage
	for _, r := range rows[:min(len(rows), l.Limit)] {
		page.Sessions = append(page.Sessions, r.Session)
	}
	if len(rows) <= l.Limit {
		return page
	}
	last, start := rows[l.Limit-1], rows[0].At
	if l.After != nil {
		start = l.After.Start
	}
	page.Next = l.cursor(Position{start, last.At, last.ID})
	return page
}

// The layout of a cursor before base64: two times, a session ID and a checksum.
const (
	idLen       = 26
	checkLen    = 8
	positionLen = 16 + idLen
)

// cursor encodes a position. A cursor only says where to continue and gives no access:
// the filter decides which rows a page has.
func (l List) cursor(p Position) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(p.Start.UnixMicro()))
	text = binary.BigEndian.AppendUint64(text, uint64(p.At.UnixMicro()))
	text = append(text, p.ID...)
	return base64.RawURLEncoding.EncodeToString(append(text, l.checksum(text)...))
}

func (l List) parse(cursor string) (Position, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(text) != positionLen+checkLen || !bytes.Equal(l.checksum(text[:positionLen]), text[positionLen:]) {
		return Position{}, fault.New(pawl.ErrInvalid, "invalid cursor: pass `next` of the page before, with the same filter")
	}
	micros := func(b []byte) time.Time { return time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC() }
	return Position{micros(text), micros(text[8:]), pawl.SessionID(text[16:positionLen])}, nil
}

// checksum binds a position to the tenant and the filter of its list: with another
// filter, it would silently skip rows.
func (l List) checksum(position []byte) []byte {
	f := l.Filter
	f.Cursor, f.Limit = "", 0
	text, err := json.Marshal(struct {
		Filter pawl.Filter
		Tenant store.Tenant
	}{f, l.tenant})
	if err != nil {
		panic(err) // it has only texts, times and flags
	}
	sum := sha256.Sum256(append(text, position...))
	return sum[:checkLen]
}
