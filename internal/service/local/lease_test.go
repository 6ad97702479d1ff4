package local

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
)

const ttl = 15 * time.Second

// hold takes the session's lease for a process.
func (w *testEnv) hold(owner proc.Identity, ttl time.Duration) {
	w.t.Helper()
	if _, err := w.store.Acquire(context.Background(), session, store.Owner(owner.String()), ttl, ""); err != nil {
		w.t.Fatal(err)
	}
}

// holder is who has the session's lease: a process that asks for it learns that, or gets it.
func (w *testEnv) holder() store.Owner {
	w.t.Helper()
	_, err := w.store.Acquire(context.Background(), session, "the test", time.Microsecond, "")
	var busy *pawl.BusyError
	if errors.As(err, &busy) {
		return store.Owner(busy.Holder)
	}
	if err != nil {
		w.t.Error(err)
	}
	if err := w.store.Release(context.Background(), session, "the test"); err != nil {
		w.t.Error(err)
	}
	return ""
}

// Two processes never work on one session.
func TestBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, acts("act")...)
		w.create(session)
		w.prompt(session, "go")
		a, b := w.runner(here, ttl), w.runner(there, ttl)
		mustStart(t, a, session)
		w.hall.wait()

		time.Sleep(10 * ttl) // it is renewed all the while
		checkBusy(t, b.Start(t.Context(), session), "here")
		checkBusy(t, b.Cancel(t.Context(), session, 2), "here")
		mustStart(t, a, session) // is at it already

		w.hall.free()
		w.idle(session)
		synctest.Wait()
		check(t, "", w.holder())
		mustStart(t, b, session) // has nothing to do
		synctest.Wait()
		check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(session))
		check(t, 1, w.hall.runs)
	})
}

// A session whose holder died or fell silent goes on elsewhere.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		holder proc.Identity
		lasts  time.Duration
		after  time.Duration // when the session can be had
	}{
		{"nobody holds it", proc.Identity{}, 0, 0},
		{"the holder's process is gone", dead, time.Hour, 0},
		{"the holder is alive", there, ttl, ttl},
		{"the holder is on another machine", elsewhere, ttl, ttl},
		{"the holder is none of ours", proc.Identity{Host: "x"}, ttl, ttl},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEnv(t, `{"text":"Done."}`)
				w.create(session)
				w.prompt(session, "go")
				if test.lasts > 0 {
					w.hold(test.holder, test.lasts)
				}
				r := w.runner(here, ttl)
				began := time.Now()
				if test.after > 0 {
					checkBusy(t, r.Start(t.Context(), session), test.holder.Host)
				}
				if err := r.Wake(t.Context(), session); err != nil {
					t.Fatal(err)
				}
				w.idle(session)
				took := time.Since(began)
				if took < test.after || took > test.after+ttl/10 {
					t.Errorf("it was taken over after %s, want %s", took, test.after)
				}
				check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(session))
			})
		})
	}
}

// The holder is killed while another stands by, long before its lease lapses.
func TestTakeOverWhenTheHolderDies(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"Done."}`)
	w.create(session)
	w.prompt(session, "go")
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), livesVar+"=1")
	stdin, err := holder.StdinPipe() // ends it with this process, at the latest
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	identity, err := proc.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	w.hold(identity, time.Hour)
	r := w.runner(here, 300*time.Millisecond)
	checkBusy(t, r.Start(t.Context(), session), "process "+strconv.Itoa(holder.Process.Pid))
	if err := r.Wake(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	check(t, pawl.StateQueued, w.row(session).State())
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	w.idle(session)
	check(t, map[pawl.Seq]pawl.Reason{2: pawl.ReasonEndTurn}, w.reasons(session))
}

// Who stands by does nothing if the holder does it all.
func TestStandByInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"calls":[{"name":"act"}]}`, `{"text":"1"}`, `{"calls":[{"name":"act"}]}`, `{"text":"2"}`)
		w.create(session)
		w.prompt(session, "one")
		a, b := w.runner(here, ttl), w.runner(there, ttl)
		mustStart(t, a, session)
		w.hall.wait()
		w.prompt(session, "two")
		if err := b.Wake(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		w.hall.free()
		w.hall.wait()
		w.hall.free()
		w.idle(session)
		time.Sleep(ttl)
		synctest.Wait()
		check(t, "", w.holder())
		check(t, 2, w.hall.runs)
		check(t, 0, len(b.runs))
	})
}

// stumbles is a store that fails now and then.
type stumbles struct {
	store.Store
	acquire func(context.Context) (context.Context, error)
	session func() error
	append  func([]pawl.Event) error
	release func(release func())
}

func (s *stumbles) Acquire(ctx context.Context, id pawl.SessionID, o store.Owner, ttl time.Duration, ended store.Owner) (store.Owner, error) {
	if s.acquire != nil {
		var err error
		if ctx, err = s.acquire(ctx); err != nil {
			return "", err
		}
	}
	return s.Store.Acquire(ctx, id, o, ttl, ended)
}

func (s *stumbles) Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	if s.session != nil {
		if err := s.session(); err != nil {
			return pawl.Session{}, err
		}
	}
	return s.Store.Session(ctx, id)
}

func (s *stumbles) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	if s.append != nil {
		if err := s.append(events); err != nil {
			return nil, err
		}
	}
	return s.Store.Append(ctx, id, after, events...)
}

func (s *stumbles) Release(ctx context.Context, id pawl.SessionID, o store.Owner) (err error) {
	if s.release == nil {
		return s.Store.Release(ctx, id, o)
	}
	s.release(func() { err = s.Store.Release(ctx, id, o) })
	return err
}

var errStumble = errors.New("the disk is on fire")

// Who stands by is not put off by a store that fails for a while.
func TestStandByIsPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"text":"Done."}`)
		w.create(session)
		w.prompt(session, "go")
		w.hold(there, ttl)
		n := 0
		st := &stumbles{Store: w.store, session: func() error {
			if n++; n < 5 {
				return errStumble
			}
			return nil
		}}
		r := w.runnerOn(st, here, ttl)
		if err := r.Wake(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		w.idle(session)
	})
}

// A lease that cannot be renewed is given up before it lapses: after that,
// another process may be at work.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		fails  int // renewals that fail
		lost   bool
		before time.Duration
	}{
		{"one stumble", 1, false, 0},
		{"the store is gone", 1000, true, ttl},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEnv(t, acts("act")...)
				w.create(session)
				w.prompt(session, "go")
				n := 0
				st := &stumbles{Store: w.store, acquire: func(ctx context.Context) (context.Context, error) {
					if n++; n > 1 && n <= 1+test.fails {
						return ctx, errStumble
					}
					return ctx, nil
				}}
				r := w.runnerOn(st, here, ttl)
				began := time.Now()
				mustStart(t, r, session)
				w.hall.wait()
				if !test.lost {
					time.Sleep(5 * ttl)
					w.hall.free()
					w.idle(session)
					return
				}
				status := w.interrupted(session)
				if took := time.Since(began); took >= test.before {
					t.Errorf("it went on for %s, and the lease was for %s", took, ttl)
				}
				check(t, "work on session "+string(session)+": lost the lease of session "+string(session)+": the disk is on fire", status.Message)
				check(t, pawl.StateRunning, w.row(session).State())
			})
		})
	}
}

// interrupted waits until the work on the session was given up.
func (w *testEnv) interrupted(id pawl.SessionID) pawl.Status {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for e, err := range w.bus.Events(ctx, id, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if s, ok := e.Body.(pawl.Status); ok {
			check(w.t, "interrupted", s.State)
			return s
		}
	}
	w.t.Fatal("the work was not interrupted")
	return pawl.Status{}
}

// Somebody else has taken the session over: this process stops at once.
func TestLeaseIsTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, acts("act")...)
		w.create(session)
		w.prompt(session, "go")
		a := w.runner(here, ttl)
		mustStart(t, a, session)
		w.hall.wait()
		owner := store.Owner(here.String())
		if from, err := w.store.Acquire(t.Context(), session, store.Owner(there.String()), time.Hour, owner); err != nil || from != owner {
			t.Fatalf("%s, %v", from, err)
		}
		w.interrupted(session)
		synctest.Wait()
		check(t, store.Owner(there.String()), w.holder())
		check(t, pawl.StateRunning, w.row(session).State())
	})
}

// A renewal that is under way when the work ends must not take the lease again.
func TestReleaseIsFinal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, acts("act")...)
		w.create(session)
		w.prompt(session, "go")
		renewing, released := make(chan struct{}), make(chan struct{})
		var n atomic.Int32
		st := &stumbles{Store: w.store}
		st.acquire = func(ctx context.Context) (context.Context, error) {
			if n.Add(1) == 2 {
				close(renewing)
				time.Sleep(time.Second) // the store is slow, and takes no notice of a cancel
				ctx = context.WithoutCancel(ctx)
			}
			return ctx, nil
		}
		st.release = func(release func()) {
			release()
			close(released)
		}
		r := w.runnerOn(st, here, ttl)
		mustStart(t, r, session)
		w.hall.wait()
		receive(t, renewing, "a renewal")
		w.hall.free()
		receive(t, released, "the release")
		time.Sleep(2 * time.Second)
		check(t, "", w.holder())
	})
}

// What the dead process left running is ended before its work goes on.
func TestTakeOverReaps(t *testing.T) {
	t.Parallel()
	w := newEnv(t, acts("act")...)
	w.create(session)
	w.prompt(session, "go")
	left := exec.Command("sleep", "1000")
	left.Env = []string{"PAWL_RUN=" + dead.Mark}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	w.hold(dead, time.Hour)

	mustStart(t, w.runner(here, ttl), session)
	w.hall.wait()
	select {
	case err := <-ended:
		check(t, "signal: killed", err.Error())
	case <-time.After(time.Second): // it was killed before: only the news may be late
		t.Error("a process of the dead pawl is still running beside the new one")
		_ = left.Process.Kill()
		<-ended
	}
	w.hall.free()
	w.idle(session)
}
