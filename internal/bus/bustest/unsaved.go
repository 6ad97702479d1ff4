package bustest

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// hint returns an unsaved event that names the durable event before it.
func hint(id pawl.SessionID, n pawl.Seq) pawl.Event {
	e := fact(n)
	e.Session, e.Body = id, pawl.Progress{Call: "call_1_1", Text: strconv.Itoa(int(n))}
	return e
}

// testUnsavedLive checks that a reader that keeps up sees each unsaved event once, in
// its place, and that one that comes later sees none.
func testUnsavedLive(t *testing.T, h Harness) {
	const head = 6
	mustGrow(t, h.Bus, session, 0, 1, 1)
	var want []pawl.Event
	for n := pawl.Seq(1); n <= head; n++ {
		want = append(want, facts(session, n-1, n)...)
		if n < head {
			want = append(want, hint(session, n), delta(n))
		}
	}
	var got []pawl.Event
	_, err := follow(t.Context(), h.Bus, session, 0, head, func(e pawl.Event) {
		got = append(got, e)
		if _, isDelta := e.Body.(pawl.Delta); isDelta {
			n := pawl.Seq(len(got) / 3)
			mustGrow(t, h.Bus, session, n, n+1, 1)
		} else if e.Seq != 0 && e.Seq < head {
			h.Bus.Publish(hint(session, e.Seq))
			h.Bus.Publish(delta(e.Seq))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("live: %s", diff)
	}
	got = nil
	log, err := follow(t.Context(), h.Bus, session, 0, head, func(e pawl.Event) { got = append(got, e) })
	checkLog(t, session, 0, head, log, err)
	if diff := cmp.Diff(log, got); diff != "" {
		t.Errorf("later: %s", diff)
	}
}

// delta returns an unsaved event that names the durable event it belongs to.
func delta(n pawl.Seq) pawl.Event {
	e := hint(session, n)
	e.Body = pawl.Delta{Reply: n, Channel: pawl.ChannelText, Text: "word"}
	return e
}

// names returns the Seq of the durable event that an unsaved one came after.
func names(e pawl.Event) pawl.Seq {
	switch b := e.Body.(type) {
	case pawl.Delta:
		return b.Reply
	case pawl.Progress:
		n, _ := strconv.Atoi(b.Text) // hint wrote it
		return pawl.Seq(n)
	default:
		return 0
	}
}

// testUnsavedOrder sends many unsaved events to fast readers and to one that pauses,
// and checks that none sees an unsaved event before the durable event that it
// followed.
func testUnsavedOrder(t *testing.T, h Harness) {
	const head, flood, readers = 300, 20, 4
	mustGrow(t, h.Bus, session, 0, 1, 1)
	logs, errs, early := make([][]pawl.Event, readers), make([]error, readers), make([]string, readers)
	goOn := make(chan struct{})
	var done sync.WaitGroup
	for i := range readers {
		done.Go(func() {
			last := pawl.Seq(0)
			logs[i], errs[i] = follow(t.Context(), h.Bus, session, 0, head, func(e pawl.Event) {
				if e.Seq == 1 && i == 0 {
					<-goOn
				}
				last = max(last, e.Seq)
				if n := names(e); n > last {
					early[i] += fmt.Sprintf("%s of event %d came after event %d\n", pawl.KindOf(e.Body), n, last)
				}
			})
		})
	}
	for n := pawl.Seq(1); n < head; n++ {
		if n == head/2 {
			close(goOn)
		}
		for range flood {
			h.Bus.Publish(hint(session, n))
			h.Bus.Publish(delta(n))
		}
		mustGrow(t, h.Bus, session, n, n+1, 1)
	}
	done.Wait()
	for i := range readers {
		checkLog(t, session, 0, head, logs[i], errs[i])
		if early[i] != "" {
			t.Error(early[i])
		}
	}
}

// testUnsavedOtherProcess checks that a delta waits for the reply that it names, even
// if another process appended the reply and no notification has come.
func testUnsavedOtherProcess(t *testing.T, h Harness) {
	const head = 30
	mustGrow(t, h.Bus, session, 0, 1, 1)
	last := pawl.Seq(0)
	got, err := follow(t.Context(), h.Bus, session, 0, head, func(e pawl.Event) {
		last = max(last, e.Seq)
		if n := names(e); n > last {
			t.Errorf("delta of event %d came after event %d", n, last)
		}
		if e.Seq != 0 && e.Seq < head {
			mustGrow(t, h.Other, session, e.Seq, e.Seq+1, 1)
			h.Bus.Publish(delta(e.Seq + 1))
		}
	})
	checkLog(t, session, 0, head, got, err)
}

func testUnsavedSession(t *testing.T, h Harness) {
	mustGrow(t, h.Bus, session, 0, 1, 1)
	mustGrow(t, h.Bus, otherSession, 0, 1, 1)
	var got []pawl.Event
	_, err := follow(t.Context(), h.Bus, session, 0, 2, func(e pawl.Event) {
		got = append(got, e)
		if e.Seq == 1 {
			h.Bus.Publish(hint(otherSession, 1))
			mustGrow(t, h.Bus, otherSession, 1, 2, 1)
			mustGrow(t, h.Bus, session, 1, 2, 1)
		}
	})
	checkLog(t, session, 0, 2, got, err)
}
