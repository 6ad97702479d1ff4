package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
)

// Close takes the work away and leaves the turn open; another process finishes it.
func TestCloseLeavesTheTurnOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tool   string
		result pawl.CallStatus
		runs   int
	}{
		{"read", pawl.CallDone, 2},
		{"act", pawl.CallUnknown, 1},
	}
	for _, test := range tests {
		t.Run(test.tool, func(t *testing.T) {
			w := newEnv(t, acts(test.tool)...)
			w.create(session)
			w.prompt(session, "go")
			a, b := w.runner(here, ttl), w.runner(there, ttl)
			mustStart(t, a, session)
			w.hall.wait()
			a.Close()
			check(t, pawl.StateRunning, w.row(session).State())
			check(t, "", w.holder())
			if err := a.Start(t.Context(), session); !errors.Is(err, errShutdown) {
				t.Errorf("a closed runner says %v", err)
			}
			if err := a.Wake(t.Context(), session); !errors.Is(err, errShutdown) {
				t.Errorf("a closed runner says %v", err)
			}

			w.hall.free()
			mustStart(t, b, session)
			w.idle(session)
			check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(session))
			check(t, test.runs, w.hall.runs)
			for _, e := range w.events(session) {
				if f, ok := e.Body.(pawl.CallFinished); ok {
					check(t, test.result, f.Status)
				}
			}
		})
	}
}

// Close ends standing by, too.
func TestCloseEndsStandingBy(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"Done."}`)
	w.create(session)
	w.prompt(session, "go")
	w.hold(there, ttl)
	r := w.runner(here, ttl)
	for range 10 {
		if err := r.Wake(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	check(t, pawl.StateQueued, w.row(session).State())
}

// Cancel ends the open turn and the prompts accepted before it, not those after.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"calls":[{"name":"act"}]}`, `{"text":"Done."}`)
	w.create(session)
	w.prompt(session, "open")
	w.prompt(session, "before")
	last := w.prompt(session, "also before")
	r := w.runner(here, ttl)
	mustStart(t, r, session)
	w.hall.wait()
	w.prompt(session, "after")
	if err := r.Cancel(t.Context(), session, last); err != nil {
		t.Fatal(err)
	}
	w.idle(session)
	check(t, map[pawl.Seq]pawl.Reason{
		2: pawl.ReasonCanceled, 3: pawl.ReasonCanceled, 4: pawl.ReasonCanceled, last + 5: pawl.ReasonEndTurn,
	}, w.reasons(session))
}

// A cancel of yesterday's turn that comes late does not hit today's.
func TestCancelThatComesLate(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"1"}`, `{"calls":[{"name":"act"}]}`, `{"text":"2"}`)
	w.create(session)
	first := w.prompt(session, "one")
	r := w.runner(here, ttl)
	mustStart(t, r, session)
	w.idle(session)
	second := w.prompt(session, "two")
	mustStart(t, r, session)
	w.hall.wait()
	if err := r.Cancel(t.Context(), session, first); err != nil {
		t.Fatal(err)
	}
	w.hall.free()
	w.idle(session)
	check(t, map[pawl.Seq]pawl.Reason{first: pawl.ReasonEndTurn, second: pawl.ReasonEndTurn}, w.reasons(session))
}

// People send and cancel at the same time. No prompt that was accepted after a
// cancel is hit by it, and none is left lying.
func TestCancelRace(t *testing.T) {
	t.Parallel()
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = `{"text":"ok","deltas":2}`
	}
	w := newEnv(t, lines...)
	r := w.runner(here, ttl)
	for round := range 6 {
		id := pawl.SessionID(fmt.Sprintf("01JD0000000000000000000%03d", round))
		w.create(id)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var upTo pawl.Seq
		var sent []pawl.Seq
		for range 2 {
			wg.Go(func() {
				for range 4 {
					seq := w.prompt(id, "go")
					mu.Lock()
					sent = append(sent, seq)
					mu.Unlock()
					if err := r.Wake(context.Background(), id); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for range 3 {
				head := w.row(id).Head
				mu.Lock()
				upTo = max(upTo, head)
				mu.Unlock()
				if err := r.Cancel(context.Background(), id, head); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		w.idle(id)
		reasons := w.reasons(id)
		for _, seq := range sent {
			switch reason := reasons[seq]; {
			case reason == pawl.ReasonEndTurn:
			case reason == pawl.ReasonCanceled && seq <= upTo:
			default:
				t.Errorf("prompt %d, canceled up to %d, ended with %q", seq, upTo, reason)
			}
		}
		check(t, len(sent), len(reasons))
	}
}

// A session that a dead process left in mid-turn can be canceled without going on.
func TestCancelAnInterruptedSession(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"went on"}`)
	w.create(session)
	prompt := w.prompt(session, "go")
	w.append(session, pawl.TurnStarted{Prompt: prompt})
	w.append(session,
		pawl.ReplyStarted{Step: 1},
		pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.ToolCall{ID: "a", Name: "act", Input: []byte("{}")}, pawl.ToolCall{ID: "b", Name: "act", Input: []byte("{}")},
		}},
		pawl.CallStarted{Call: "a", Tool: "act"})
	head := w.row(session).Head
	w.hold(dead, ttl)
	if err := w.runner(here, ttl).Cancel(t.Context(), session, head); err != nil {
		t.Fatal(err)
	}
	w.idle(session)
	got := map[pawl.CallID]pawl.CallStatus{}
	for _, e := range w.events(session)[head:] {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			got[f.Call] = f.Status
		}
	}
	check(t, map[pawl.CallID]pawl.CallStatus{"a": pawl.CallUnknown, "b": pawl.CallCanceled}, got)
	check(t, map[pawl.Seq]pawl.Reason{prompt: pawl.ReasonCanceled}, w.reasons(session))
	check(t, 0, w.hall.runs)
}

// When the store fails in mid-turn the turn stays open and those who watch learn that.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []pawl.Kind{"turn.started", "reply.started", "replied", "call.started", "call.finished", "turn.finished"} {
		t.Run(string(kind), func(t *testing.T) {
			w := newEnv(t, acts("act")...)
			w.bus = bus.New(w.store, bus.Config{Poll: time.Millisecond}) // it does not hear of appends to the store around its own
			w.create(session)
			w.prompt(session, "go")
			w.hall.free()
			var fails sync.Once
			st := &stumbles{Store: w.store, append: func(events []pawl.Event) (err error) {
				if pawl.KindOf(events[0].Body) == kind {
					fails.Do(func() { err = errStumble })
				}
				return err
			}}
			r := w.runnerOn(st, here, ttl)
			statuses := make(chan pawl.Status, 1)
			ready := make(chan struct{})
			go func() {
				defer close(statuses)
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				for e := range w.bus.Events(ctx, session, 0) {
					if e.Seq == 1 {
						close(ready)
					}
					if s, ok := e.Body.(pawl.Status); ok {
						statuses <- s
						return
					}
				}
			}()
			receive(t, ready, "the reader")
			mustStart(t, r, session)
			status := receive(t, statuses, "the news that the work was given up")
			if status.State != "interrupted" || !strings.Contains(status.Message, errStumble.Error()) {
				t.Errorf("it says %+v", status)
			}
			if w.row(session).State() == pawl.StateIdle {
				t.Error("the session has nothing to do")
			}
			check(t, "", w.holder())

			w.hall.free()
			mustStart(t, r, session) // the store is well again
			w.idle(session)
			check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(session))
		})
	}
}

func TestAHundredSessionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t, acts("act")...)
	r := w.runner(here, ttl)
	const n = 100
	var ids []pawl.SessionID
	for i := range n {
		id := pawl.SessionID(fmt.Sprintf("01JD0000000000000000000%03d", i))
		w.create(id)
		w.prompt(id, "go")
		mustStart(t, r, id)
		ids = append(ids, id)
	}
	for range n {
		w.hall.wait() // all of them are at work now
	}
	for range n {
		w.hall.free()
	}
	for _, id := range ids {
		w.idle(id)
		check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(id))
	}
	check(t, n, w.hall.runs)
}

// Two ask at the same time for a session that another process holds: each learns that.
func TestAskingTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"text":"Done."}`)
		w.create(session)
		w.prompt(session, "go")
		w.hold(there, ttl)
		gate := make(chan struct{})
		r := w.runnerOn(&stumbles{Store: w.store, acquire: func(ctx context.Context) (context.Context, error) { <-gate; return ctx, nil }}, here, ttl)
		errs := make(chan error, 3)
		for range 2 {
			go func() { errs <- r.Start(context.Background(), session) }()
		}
		go func() { errs <- r.Cancel(context.Background(), session, 2) }()
		synctest.Wait() // one asks the store, the others wait for it
		close(gate)
		for range 3 {
			checkBusy(t, <-errs, "there")
		}
	})
}

// Whoever gives up waiting is let go, and those who wait with it are not affected.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"text":"Done."}`)
		w.create(session)
		w.prompt(session, "go")
		gate := make(chan struct{})
		r := w.runnerOn(&stumbles{Store: w.store, acquire: func(ctx context.Context) (context.Context, error) { <-gate; return ctx, nil }}, here, ttl)
		first, cancelFirst := context.WithCancel(context.Background())
		second, cancelSecond := context.WithCancel(context.Background())
		errs := [3]chan error{}
		for i, ctx := range []context.Context{first, second, context.Background()} {
			errs[i] = make(chan error, 1)
			go func() { errs[i] <- r.Start(ctx, session) }()
			synctest.Wait()
		}
		cancelSecond()
		if err := <-errs[1]; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancelFirst()
		close(gate)
		if err := <-errs[0]; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := <-errs[2]; err != nil {
			t.Errorf("got %v", err)
		}
		w.idle(session)
	})
}
