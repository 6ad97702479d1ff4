package local

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// A cancel that comes as the last step ends is one, and the log says so.
func TestCancelAtTheLastMoment(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"Done."}`)
	w.create(session)
	prompt := w.prompt(session, "go")
	st := &watchedReads{Store: w.store}
	r := w.runnerOn(st, here, ttl)
	st.read = func(last pawl.Event) {
		if _, replied := last.Body.(pawl.Replied); !replied {
			return
		}
		st.read = nil // the turn is asked whether it goes on, and has read all there is
		if err := r.Cancel(context.Background(), session, last.Seq); err != nil {
			t.Error(err)
		}
	}
	mustStart(t, r, session)
	w.idle(session)
	check(t, map[pawl.Seq]pawl.Reason{prompt: pawl.ReasonCanceled}, w.reasons(session))
}

// watchedReads tells when a log was read to its end, and which event was the last.
type watchedReads struct {
	store.Store
	read func(last pawl.Event)
	last pawl.Event
}

func (s *watchedReads) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := s.Store.Append(ctx, id, after, events...)
	if err == nil {
		s.last = stored[len(stored)-1]
	}
	return stored, err
}

func (s *watchedReads) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for e, err := range s.Store.Events(ctx, id, after) {
			if !yield(e, err) {
				return
			}
		}
		if s.read != nil {
			s.read(s.last)
		}
	}
}

// A cancel that finds the work at its end does not take the word of a process
// that has the session no more: whoever has it then works on.
func TestCancelAtTheEndOfTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, append([]string{`{"text":"Done."}`}, acts("act")...)...)
		w.create(session)
		w.prompt(session, "go")
		st := &stumbles{Store: w.store}
		a, b := w.runnerOn(st, here, ttl), w.runner(there, ttl)
		var second pawl.Seq
		canceled := make(chan error, 1)
		st.release = func(release func()) {
			st.release = nil
			second = w.prompt(session, "once more")
			go func() { canceled <- a.Cancel(context.Background(), session, second) }()
			synctest.Wait() // it has its answer, or waits for it
			release()
			mustStart(t, b, session) // the other process is quicker
			w.hall.wait()
		}
		mustStart(t, a, session)
		err := receive(t, canceled, "the cancel's answer")
		w.hall.free()
		w.idle(session)
		reason := w.reasons(session)[second]
		if err == nil && reason != pawl.ReasonCanceled || err != nil && !errors.Is(err, pawl.ErrBusy) {
			t.Errorf("the cancel said %v, and the turn ended with %s", err, reason)
		}
	})
}

// A prompt that was accepted after a cancel, and taken into the turn before the
// cancel took effect, is not lost with it: it is worked on in a turn of its own.
func TestCancelDoesNotMeanWhatCameAfter(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"calls":[{"name":"act"}]}`, `{"calls":[{"name":"act"}]}`, `{"text":"In its own turn."}`)
	w.create(session)
	prompt := w.prompt(session, "go")
	r := w.runner(here, ttl)
	mustStart(t, r, session)
	w.hall.wait()
	meant := w.append(session, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "meant"}}, Delivery: pawl.DeliverSteer})
	later := w.append(session, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "later"}}, Delivery: pawl.DeliverSteer})
	w.hall.free()
	w.hall.wait() // both were taken in
	if err := r.Cancel(t.Context(), session, meant); err != nil {
		t.Fatal(err)
	}
	w.idle(session)
	var again []pawl.Seq
	for _, e := range w.events(session) {
		if b, ok := e.Body.(pawl.Prompted); ok && b.Again != 0 {
			check(t, later, b.Again)
			check(t, "later", b.Parts.Text())
			again = append(again, e.Seq)
		}
	}
	if len(again) != 1 {
		t.Fatalf("%d prompts were accepted again", len(again))
	}
	check(t, map[pawl.Seq]pawl.Reason{prompt: pawl.ReasonCanceled, again[0]: pawl.ReasonEndTurn}, w.reasons(session))
}
