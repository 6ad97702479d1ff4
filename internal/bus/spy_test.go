package bus_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
)

const id pawl.SessionID = "01JD0000000000000000000000"

func openStore(t testing.TB) store.Store {
	t.Helper()
	return sqlitetest.Open(t)
}

// spy reports reads and can hold back the return of an append, and with it the news.
type spy struct {
	store.Store
	logs   atomic.Int64               // reads of events
	join   func()                     // runs before the first read of events
	polled chan struct{}              // has a token for each read of a row that somebody waits for
	rowErr error                      // what reads of a row return
	held   map[pawl.Seq]chan struct{} // by the number that the append comes after
}

func (s *spy) Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	select {
	case s.polled <- struct{}{}:
	default:
	}
	if s.rowErr != nil {
		return pawl.Session{}, s.rowErr
	}
	return s.Store.Session(ctx, id)
}

func (s *spy) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	if s.logs.Add(1) == 1 && s.join != nil {
		s.join()
	}
	return s.Store.Events(ctx, id, after)
}

func (s *spy) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := s.Store.Append(ctx, id, after, events...)
	if hold, ok := s.held[after]; ok {
		<-hold
	}
	return stored, err
}

// grow appends one event after the given number.
func grow(t testing.TB, to interface {
	Append(context.Context, pawl.SessionID, pawl.Seq, ...pawl.Event) ([]pawl.Event, error)
}, after pawl.Seq) {
	t.Helper()
	e := pawl.Event{At: time.Unix(1_700_000_000, 0).UTC(), Body: pawl.SessionTitled{Title: "a title"}}
	if after == 0 {
		e.Body = pawl.SessionCreated{Dir: "/project"}
	}
	if _, err := to.Append(context.WithoutCancel(t.Context()), id, after, e); err != nil {
		t.Error(err)
	}
}

// read yields the numbers of the durable events that b shows after 0, and ends the test if they stop coming.
func read(t *testing.T, b *bus.Bus) iter.Seq[pawl.Seq] {
	return func(yield func(pawl.Seq) bool) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for e, err := range b.Events(ctx, id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(e.Seq) {
				return
			}
		}
		t.Fatal("the events stopped coming")
	}
}
