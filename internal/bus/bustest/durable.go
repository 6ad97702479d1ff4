package bustest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func testReplayThenLive(t *testing.T, h Harness) {
	mustGrow(t, h.Bus, session, 0, 3, 3)
	got, err := follow(t.Context(), h.Bus, session, 0, 9, func(e pawl.Event) {
		if e.Seq >= 3 && e.Seq < 9 { // live from here on
			mustGrow(t, h.Bus, session, e.Seq, e.Seq+1, 1)
		}
	})
	checkLog(t, session, 0, 9, got, err)
}

func testResumeAtEveryNumber(t *testing.T, h Harness) {
	const stored, live = 30, 33
	mustGrow(t, h.Bus, session, 0, stored, 7)
	type result struct {
		events []pawl.Event
		err    error
	}
	results := make([]result, stored+1)
	var caught, done sync.WaitGroup
	for after := range results {
		caught.Add(1)
		done.Go(func() {
			if after == stored {
				caught.Done() // nothing to replay
			}
			events, err := follow(t.Context(), h.Bus, session, pawl.Seq(after), live, func(e pawl.Event) {
				if e.Seq == stored {
					caught.Done()
				}
			})
			results[after] = result{events, err}
		})
	}
	caught.Wait()
	mustGrow(t, h.Bus, session, stored, live, 1)
	done.Wait()
	for after, r := range results {
		checkLog(t, session, pawl.Seq(after), live, r.events, r.err)
	}
}

// testSlowReader stops the reader until everything is appended, far beyond the
// capacity of any queue, and again while it catches up.
func testSlowReader(t *testing.T, h Harness) {
	const first, second = 3_500, 4_000
	mustGrow(t, h.Bus, session, 0, 1, 1)
	started, stored, again := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var got []pawl.Event
	var err error
	var reader sync.WaitGroup
	reader.Go(func() {
		got, err = follow(t.Context(), h.Bus, session, 0, second, func(e pawl.Event) {
			switch e.Seq {
			case 1:
				close(started)
				<-stored
			case first / 2:
				<-again
			}
		})
	})
	<-started
	mustGrow(t, h.Bus, session, 1, first, 13)
	close(stored)
	mustGrow(t, h.Bus, session, first, second, 1)
	close(again)
	reader.Wait()
	checkLog(t, session, 0, second, got, err)
}

func testManyReaders(t *testing.T, h Harness) {
	const readers, head = 50, 800
	mustGrow(t, h.Bus, session, 0, 1, 1)
	logs, errs := make([][]pawl.Event, readers), make([]error, readers)
	var done sync.WaitGroup
	for i := range readers {
		done.Go(func() { logs[i], errs[i] = follow(t.Context(), h.Bus, session, pawl.Seq(i%2), head, blind) })
	}
	mustGrow(t, h.Bus, session, 1, head, 5)
	done.Wait()
	for i := range readers {
		checkLog(t, session, pawl.Seq(i%2), head, logs[i], errs[i])
	}
}

// testRacingAppends has writers race for each number while readers come and go.
func testRacingAppends(t *testing.T, h Harness) {
	const writers, readers, head = 4, 8, 400
	mustGrow(t, h.Bus, session, 0, 1, 1)
	logs, errs := make([][]pawl.Event, readers), make([]error, readers+writers)
	var done sync.WaitGroup
	for i := range writers {
		done.Go(func() { errs[readers+i] = race(t.Context(), h, head) })
	}
	for i := range readers {
		done.Go(func() {
			// The reader disconnects now and then and continues by number, as a
			// client does.
			for after := pawl.Seq(0); after < head && errs[i] == nil; after = pawl.Seq(len(logs[i])) {
				var more []pawl.Event
				more, errs[i] = follow(t.Context(), h.Bus, session, after, min(after+37, head), blind)
				logs[i] = append(logs[i], more...)
				if len(more) == 0 && errs[i] == nil {
					errs[i] = errors.New("the events never came")
				}
			}
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range readers {
		checkLog(t, session, 0, head, logs[i], nil)
	}
}

// race appends facts at the current head until it reaches to.
func race(ctx context.Context, h Harness, to pawl.Seq) error {
	for {
		s, err := h.Store.Session(ctx, session)
		if err != nil || s.Head >= to {
			return err
		}
		_, err = h.Bus.Append(ctx, session, s.Head, fact(s.Head+1))
		if err != nil && !errors.Is(err, pawl.ErrConflict) {
			return err
		}
	}
}

// testOtherProcess appends from another process, first alone and then alternating
// with this one.
func testOtherProcess(t *testing.T, h Harness) {
	const alone, head = 5, 15
	mustGrow(t, h.Bus, session, 0, 1, 1)
	got, err := follow(t.Context(), h.Bus, session, 0, head, func(e pawl.Event) {
		if e.Seq >= head {
			return
		}
		b := h.Other
		if e.Seq > alone && e.Seq%2 == 0 {
			b = h.Bus
		}
		mustGrow(t, b, session, e.Seq, e.Seq+1, 1)
	})
	checkLog(t, session, 0, head, got, err)
}

// testBodyUsesBus checks that no read of the store is open while the loop body runs,
// so that the body may use the store.
func testBodyUsesBus(t *testing.T, h Harness) {
	const head = 20
	mustGrow(t, h.Bus, session, 0, head, head)
	var nested func(depth int) int
	nested = func(depth int) (read int) {
		if depth == 0 {
			return 0
		}
		for e, err := range h.Bus.Events(t.Context(), session, head-2) {
			if err != nil {
				t.Fatal(err)
			}
			read += 1 + nested(depth-1)
			if e.Seq == head {
				break
			}
		}
		return read
	}
	if got, want := nested(7), 254; got != want { // 2 + 4 + … + 2^7
		t.Errorf("read %d events, want %d", got, want)
	}
}

func testAppendContract(t *testing.T, h Harness) {
	got, err := h.Bus.Append(t.Context(), session, 0, fact(1), fact(2))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(facts(session, 0, 2), got); diff != "" {
		t.Error(diff)
	}
	if _, err := h.Bus.Append(t.Context(), session, 1, fact(2)); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("append at a number that is taken: got %v, want ErrConflict", err)
	}
	mustGrow(t, h.Bus, session, 2, 3, 1)
	events, err := follow(t.Context(), h.Bus, session, 0, 3, blind)
	checkLog(t, session, 0, 3, events, err)
}
