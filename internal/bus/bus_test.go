package bus_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/bus/bustest"
)

// The queue is short, so that readers are cut off all the time.
func TestContract(t *testing.T) { //nolint:paralleltest // it counts goroutines
	bustest.Run(t, func(t *testing.T) bustest.Harness {
		st := openStore(t)
		cfg := bus.Config{Queue: 64, Poll: 5 * time.Millisecond}
		return bustest.Harness{Bus: bus.New(st, cfg), Other: bus.New(st, cfg), Store: st}
	})
}

// The news of event 2 is late: it comes when 3 is known, and after that of 4.
// Nothing waits for the poll.
func TestNewsOutOfOrder(t *testing.T) {
	t.Parallel()
	st := &spy{Store: openStore(t), held: map[pawl.Seq]chan struct{}{1: make(chan struct{})}}
	b := bus.New(st, bus.Config{Poll: time.Hour})
	grow(t, b, 0)
	var late sync.WaitGroup
	var got []pawl.Seq
	for seq := range read(t, b) {
		got = append(got, seq)
		switch seq {
		case 1:
			late.Go(func() { grow(t, b, 1) })
			for s := (pawl.Session{}); s.Head < 2; { // until 2 is stored
				var err error
				if s, err = st.Store.Session(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			grow(t, b, 2)
		case 3:
			grow(t, b, 3)
			close(st.held[1])
			late.Wait()
		}
		if seq == 4 {
			break
		}
	}
	if diff := cmp.Diff([]pawl.Seq{1, 2, 3, 4}, got); diff != "" {
		t.Error(diff)
	}
}

// What a reader missed when it was cut off comes without the poll and without further news.
func TestCutOff(t *testing.T) {
	t.Parallel()
	b := bus.New(openStore(t), bus.Config{Queue: 4, Poll: time.Hour})
	grow(t, b, 0)
	want := pawl.Seq(1)
	for seq := range read(t, b) {
		if seq != want {
			t.Fatalf("got %d, want %d", seq, want)
		}
		if seq == 10 {
			break
		}
		if seq == 1 {
			for after := pawl.Seq(1); after < 10; after++ {
				grow(t, b, after)
			}
		}
		want++
	}
}

// An unsaved event is old once the reader has found a later durable one in the store.
func TestUnsavedIsOld(t *testing.T) {
	t.Parallel()
	st := &spy{Store: openStore(t)}
	b := bus.New(st, bus.Config{Poll: time.Hour})
	grow(t, b, 0)
	st.join = func() {
		grow(t, b, 1)
		b.Publish(pawl.Event{Session: id, Body: pawl.Progress{Text: "old"}})
		grow(t, b, 2)
		b.Publish(pawl.Event{Session: id, Body: pawl.Progress{Text: "new"}})
	}
	var got []pawl.Body
	for e, err := range b.Events(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Body)
		if e.Seq == 0 {
			break
		}
	}
	want := []pawl.Body{pawl.SessionTitled{Title: "a title"}, pawl.SessionTitled{Title: "a title"}, pawl.Progress{Text: "new"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// While this process's own news come, the store is read once; without news
// only the session's row is, until it says that there is more.
func TestReadsOfTheStore(t *testing.T) {
	t.Parallel()
	st := &spy{Store: openStore(t), polled: make(chan struct{})}
	quiet, b := bus.New(st, bus.Config{Poll: time.Hour}), bus.New(st, bus.Config{Poll: time.Millisecond})
	grow(t, st, 0)
	for seq := range read(t, quiet) {
		if seq == 100 {
			break
		}
		grow(t, quiet, seq)
	}
	if got := st.logs.Swap(0); got != 1 {
		t.Errorf("the log was read %d times for 99 live events, want once before them", got)
	}

	var elsewhere sync.WaitGroup
	for seq := range read(t, b) {
		if seq == 100 {
			elsewhere.Go(func() {
				for range 10 {
					<-st.polled
				}
				if got := st.logs.Load(); got != 1 {
					t.Errorf("the log was read %d times, want once before the polls", got)
				}
				grow(t, st.Store, 100)
			})
		}
		if seq == 101 {
			break
		}
	}
	elsewhere.Wait()
	if got := st.logs.Load(); got != 2 {
		t.Errorf("the log was read %d times, want once more after it grew", got)
	}
}

func TestStoreFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	st := &spy{Store: openStore(t), rowErr: broken}
	b := bus.New(st, bus.Config{Poll: time.Millisecond})
	grow(t, b, 0)
	var got []error
	for _, err := range b.Events(t.Context(), id, 0) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) {
		t.Errorf("got %v, want an event and then the store's error", got)
	}
}

// A delta whose reply is in no store is dropped, and what follows it is not.
func TestDeltaOfNothing(t *testing.T) {
	t.Parallel()
	b := bus.New(openStore(t), bus.Config{Poll: time.Hour})
	grow(t, b, 0)
	var got []pawl.Seq
	for seq := range read(t, b) {
		got = append(got, seq)
		if seq == 2 {
			break
		}
		b.Publish(pawl.Event{Session: id, Body: pawl.Delta{Reply: 7}})
		grow(t, b, 1)
	}
	if diff := cmp.Diff([]pawl.Seq{1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPublishRefusesDurableEvents(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, want := recover(), "bus: publish session.titled: a durable event must be appended"; got != want {
			t.Errorf("got panic %v, want %s", got, want)
		}
	}()
	bus.New(openStore(t), bus.Config{}).Publish(pawl.Event{Session: id, Body: pawl.SessionTitled{}})
}
