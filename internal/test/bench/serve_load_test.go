//go:build bench

package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

const (
	loadClients  = 500
	loadSlow     = 20 // of them, that stop reading
	loadSessions = 200
	maxServeRSS  = 300 << 20
	loadTime     = 2 * time.Minute
)

// TestBenchServe: 500 clients on one busy session, some of which stop reading, and
// then 200 sessions at once with a client each. Nothing of the log is lost or
// comes twice, and the server's memory has a bound.
func TestBenchServe(t *testing.T) { //nolint:paralleltest // it measures time
	s := startServing(t)
	idle := s.memory(t, "VmRSS")
	ctx, cancel := context.WithTimeout(t.Context(), loadTime)
	defer cancel()

	awake := make(chan struct{})
	many := make([]*watcher, loadClients)
	for i := range many {
		many[i] = &watcher{}
		if i < loadSlow {
			many[i].stall = func() { <-awake }
		}
	}
	one := s.create(t)
	fast := s.follow(ctx, t, many[loadSlow:], func(int) pawl.SessionID { return one })
	slow := s.follow(ctx, t, many[:loadSlow], func(int) pawl.SessionID { return one })
	began, used := time.Now(), s.cpu(t)
	s.begin(t, one, busyScript(t, s.dir, 60, 40))
	fast.Wait()
	s.report(t, "500 clients on one session", sum(many[loadSlow:]), time.Since(began), s.cpu(t)-used)

	script := busyScript(t, s.dir, 10, 40)
	each := make([]*watcher, loadSessions)
	ids := make([]pawl.SessionID, loadSessions)
	for i := range each {
		each[i], ids[i] = &watcher{}, s.create(t)
	}
	all := s.follow(ctx, t, each, func(i int) pawl.SessionID { return ids[i] })
	began, used = time.Now(), s.cpu(t)
	for _, id := range ids {
		s.begin(t, id, script)
	}
	all.Wait()
	s.report(t, "200 sessions at once", sum(each), time.Since(began), s.cpu(t)-used)

	<-time.After(12 * time.Second) // longer than the server has patience with one that does not read
	close(awake)
	slow.Wait()
	row, err := s.Get(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for i, w := range many {
		if w.last != row.Head {
			t.Errorf("client %d has %d of %d events", i, w.last, row.Head)
		}
		if i < loadSlow && w.cuts > 0 {
			cut++
		}
	}
	if cut != loadSlow {
		t.Errorf("%d of %d clients that do not read were cut off", cut, loadSlow)
	}
	peak := s.memory(t, "VmHWM")
	t.Logf("%d clients that stopped reading were cut off, came again and have all; server RSS: idle %.1f MB, peak %.1f MB   (at most %d MB)",
		cut, mb(idle), mb(peak), maxServeRSS>>20)
	if peak > maxServeRSS {
		t.Errorf("the server has taken %.1f MB", mb(peak))
	}
}

// follow starts watchers, and returns when each has seen an event.
func (s *serving) follow(ctx context.Context, t *testing.T, watchers []*watcher, of func(int) pawl.SessionID) *sync.WaitGroup {
	t.Helper()
	var wg, joined sync.WaitGroup
	for i, w := range watchers {
		joined.Add(1)
		w.joined = joined.Done
		wg.Go(func() {
			if err := w.watch(ctx, s.socket, of(i)); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	joined.Wait()
	return &wg
}

func (s *serving) report(t *testing.T, what string, got summary, took, cpu time.Duration) {
	t.Helper()
	t.Logf("%s: %d events of the log and %d unsaved ones in %.1f s, %.0f a second; from the event's time to a client p50 %s, p99 %s; server CPU %.1f s, %.1f us an event",
		what, got.durable, got.events-got.durable, took.Seconds(), float64(got.events)/took.Seconds(),
		ms(percentile(got.late, 50)), ms(percentile(got.late, 99)), cpu.Seconds(), float64(cpu.Microseconds())/float64(got.events))
}
