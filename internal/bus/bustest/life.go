package bustest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
)

func testNotFound(t *testing.T, h Harness) {
	mustGrow(t, h.Bus, otherSession, 0, 1, 1)
	got, err := follow(t.Context(), h.Bus, session, 0, 1, blind)
	if !errors.Is(err, pawl.ErrNotFound) || got != nil {
		t.Errorf("got %v, %v; want nothing but ErrNotFound", got, err)
	}
}

func testDeleted(t *testing.T, h Harness) {
	mustGrow(t, h.Bus, session, 0, 1, 1)
	got, err := follow(t.Context(), h.Bus, session, 0, 2, func(pawl.Event) {
		if err := h.Store.Delete(t.Context(), session); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	checkLog(t, session, 0, 1, got, nil)
}

// testContextEnd checks that the stream ends without an error after the current event
// whenever the context ends.
func testContextEnd(t *testing.T, h Harness) {
	const head = 5
	mustGrow(t, h.Bus, session, 0, head, head)
	for end := range pawl.Seq(head + 1) {
		ctx, cancel := context.WithCancel(t.Context())
		if end == 0 {
			cancel() // before the first event
		}
		var waiting sync.WaitGroup
		got, err := follow(ctx, h.Bus, session, 0, head+1, func(e pawl.Event) {
			switch {
			case e.Seq == end && end == head:
				waiting.Go(cancel) // while it waits for more
			case e.Seq == end:
				cancel()
			}
		})
		checkLog(t, session, 0, end, got, err)
		waiting.Wait()
		cancel()
	}
}

// testLeaks checks that a reader leaks nothing when its context ends, when it breaks
// off and when its session does not exist.
func testLeaks(t *testing.T, h Harness) {
	const head = 50
	mustGrow(t, h.Bus, session, 0, head, head)
	if _, err := follow(t.Context(), h.Bus, session, 0, head, blind); err != nil { // warms the store up
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting, done sync.WaitGroup
	waiting.Add(10)
	for range 10 {
		done.Go(func() { _, _ = follow(ctx, h.Bus, otherSession, 0, 1, blind) })
		done.Go(func() { _, _ = follow(ctx, h.Bus, session, 0, head/2, blind) })
		done.Go(func() {
			_, _ = follow(ctx, h.Bus, session, 0, head+1, func(e pawl.Event) {
				if e.Seq == head {
					waiting.Done()
				}
			})
		})
	}
	waiting.Wait()
	cancel()
	done.Wait()
	goleak.VerifyNone(t, before)

	// The bus still works.
	mustGrow(t, h.Bus, session, head, head+1, 1)
	got, err := follow(t.Context(), h.Bus, session, 0, head+1, blind)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(facts(session, 0, head+1), got); diff != "" {
		t.Error(diff)
	}
}
