package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// acquired takes a long lease and checks the owner that it was taken from.
func acquired(t *testing.T, s store.Store, id pawl.SessionID, owner, ended, from store.Owner) {
	t.Helper()
	got, err := s.Acquire(t.Context(), id, owner, time.Hour, ended)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "taken from", got, from)
	heldBy(t, s, id, owner)
}

// heldBy checks who holds a lease.
func heldBy(t *testing.T, s store.Store, id pawl.SessionID, owner store.Owner) {
	t.Helper()
	got, err := s.Holder(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "holder", got, owner)
}

func released(t *testing.T, s store.Store, id pawl.SessionID, owner store.Owner) {
	t.Helper()
	if err := s.Release(t.Context(), id, owner); err != nil {
		t.Fatal(err)
	}
}

// leaseLife also checks that a renewal returns no previous owner: one would mean that
// a process crashed.
func leaseLife(t *testing.T, s store.Store) {
	id := create(t, s).Session
	acquired(t, s, id, "a", "", "")
	acquired(t, s, id, "a", "", "")
	released(t, s, id, "a")
	heldBy(t, s, id, "")
	released(t, s, id, "a")
	acquired(t, s, id, "b", "", "")
	acquired(t, s, create(t, s).Session, "a", "", "")
}

func leaseBusy(t *testing.T, s store.Store) {
	id := create(t, s).Session
	acquired(t, s, id, "a", "", "")
	_, err := s.Acquire(t.Context(), id, "b", time.Hour, "")
	busy(t, "a lease that is held", err, id, "a")
	released(t, s, id, "b")
	_, err = s.Acquire(t.Context(), id, "b", time.Hour, "")
	busy(t, "a lease that somebody else released", err, id, "a")
	acquired(t, s, id, "a", "", "")
}

func leaseLapse(t *testing.T, s store.Store) {
	const ttl = 150 * time.Millisecond
	id, start := create(t, s).Session, time.Now()
	if _, err := s.Acquire(t.Context(), id, "a", ttl, ""); err != nil {
		t.Fatal(err)
	}
	for {
		from, err := s.Acquire(t.Context(), id, "b", ttl, "")
		if err == nil {
			equal(t, "taken from", from, "a")
			break
		}
		busy(t, "a lease that has not lapsed", err, id, "a")
		if time.Since(start) > time.Minute {
			t.Fatal("the lease does not lapse")
		}
		time.Sleep(ttl / 20) // a lease expires by the clock of the store
	}
	if got := time.Since(start); got < ttl {
		t.Fatalf("a lease of %s was taken after %s", ttl, got)
	}
	// The old holder gets an error when it renews, however late.
	acquired(t, s, id, "b", "", "")
	_, err := s.Acquire(t.Context(), id, "a", ttl, "")
	busy(t, "renewing a lease that was lost", err, id, "b")
}

func leaseEnded(t *testing.T, s store.Store) {
	id := create(t, s).Session
	acquired(t, s, id, "a", "", "")
	_, err := s.Acquire(t.Context(), id, "b", time.Hour, "x")
	busy(t, "another one is gone", err, id, "a")
	acquired(t, s, id, "b", "a", "a")
	_, err = s.Acquire(t.Context(), id, "c", time.Hour, "a")
	busy(t, "the one that is gone no longer holds it", err, id, "b")
	acquired(t, s, id, "b", "a", "")
}

func leaseRefuses(t *testing.T, s store.Store) {
	for _, id := range []pawl.SessionID{NewID(), "", "\xff\x00"} {
		_, err := s.Acquire(t.Context(), id, "a", time.Hour, "")
		fails(t, "lease of a missing session", err, pawl.ErrNotFound)
		released(t, s, id, "a")
	}
	id := create(t, s).Session
	_, err := s.Acquire(t.Context(), id, "", time.Hour, "")
	fails(t, "lease for nobody", err, pawl.ErrInvalid)
	_, err = s.Acquire(t.Context(), id, "a", 0, "")
	fails(t, "lease for no time", err, pawl.ErrInvalid)
	acquired(t, s, id, "b", "", "")
}

func leaseRace(t *testing.T, s store.Store) {
	const owners = 50
	id := create(t, s).Session
	errs := make([]error, owners)
	name := func(i int) store.Owner { return store.Owner(fmt.Sprint("owner ", i)) }
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range owners {
		wg.Go(func() {
			<-start
			_, errs[i] = s.Acquire(t.Context(), id, name(i), time.Hour, "")
		})
	}
	close(start)
	wg.Wait()
	winner := store.Owner("")
	for i, err := range errs {
		if err == nil {
			equal(t, "an earlier winner", winner, "")
			winner = name(i)
		}
	}
	for i, err := range errs {
		if name(i) != winner {
			busy(t, "the lease of another", err, id, winner)
		}
	}
	if winner == "" {
		t.Fatal(errors.Join(errs...))
	}
}
