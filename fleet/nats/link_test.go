package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/bus/bustest"
	"github.com/pawl-dev/pawl/internal/store"
)

const (
	id    pawl.SessionID = "01JD0000000000000000000000"
	other pawl.SessionID = "01JD0000000000000000000001"
)

func TestContract(t *testing.T) { //nolint:paralleltest // it counts goroutines
	s := startServer(t)
	bustest.Run(t, func(t *testing.T) bustest.Harness {
		st := openStore(t)
		here, there := linked(t, st, s.url(), s.url(), 2*time.Second)
		return bustest.Harness{Bus: here, Other: there, Store: st}
	})
}

// linked returns two buses over the store, each with a link of its own.
func linked(t *testing.T, st store.Store, here, there string, poll time.Duration) (a, b *bus.Bus) {
	return bus.New(st, bus.Config{Queue: 64, Poll: poll, Link: open(t, Config{URL: here})}),
		bus.New(st, bus.Config{Queue: 64, Poll: poll, Link: open(t, Config{URL: there})})
}

// fact returns a durable event to append after the given Seq.
func fact(after pawl.Seq, title string) pawl.Event {
	e := pawl.Event{At: time.Unix(1_700_000_000, 0).UTC(), Body: pawl.SessionTitled{Title: title}}
	if after == 0 {
		e.Body = pawl.SessionCreated{Dir: "/project"}
	}
	return e
}

func grow(t testing.TB, b *bus.Bus, id pawl.SessionID, from, to pawl.Seq, title string) {
	t.Helper()
	for after := from; after < to; after++ {
		if _, err := b.Append(context.WithoutCancel(t.Context()), id, after, fact(after, title)); err != nil {
			t.Fatal(err)
		}
	}
}

// reading reads events in the background.
type reading struct {
	t      *testing.T
	events chan pawl.Event
	last   pawl.Seq
}

func read(t *testing.T, b *bus.Bus, id pawl.SessionID) *reading {
	r := &reading{t: t, events: make(chan pawl.Event, 10_000)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	var done sync.WaitGroup
	t.Cleanup(func() { cancel(); done.Wait() })
	done.Go(func() {
		defer close(r.events)
		for e, err := range b.Events(ctx, id, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			r.events <- e
		}
	})
	return r
}

// until reads up to a Seq, and fails unless each durable event arrives once and in order.
func (r *reading) until(head pawl.Seq, see func(pawl.Event)) {
	r.t.Helper()
	for r.last < head {
		e, ok := <-r.events
		if !ok {
			r.t.Fatalf("the events ended at %d, want %d", r.last, head)
		}
		if e.Seq != 0 {
			if e.Seq != r.last+1 {
				r.t.Fatalf("event %d came after %d", e.Seq, r.last)
			}
			r.last = e.Seq
		}
		see(e)
	}
}

func blind(pawl.Event) {}

// TestAppendThereReadHere checks that each reader gets the events of its session, of all sizes, without waiting for the
// poll.
func TestAppendThereReadHere(t *testing.T) {
	t.Parallel()
	s, st := startServer(t), openStore(t)
	here, there := linked(t, st, s.url(), s.url(), time.Hour)
	const head = 200
	var readers []*reading
	for _, id := range []pawl.SessionID{id, other} {
		grow(t, there, id, 0, 1, "")
		r := read(t, here, id)
		r.until(1, blind)
		readers = append(readers, r)
	}
	for n := pawl.Seq(1); n < head; n++ {
		for _, id := range []pawl.SessionID{id, other} {
			there.Publish(pawl.Event{Session: id, Body: pawl.Progress{Text: string(id)}})
			title := string(id)
			if n%50 == 0 {
				title += strings.Repeat("x", 2*maxMessage)
			}
			grow(t, there, id, n, n+1, title)
		}
	}
	for i, id := range []pawl.SessionID{id, other} {
		readers[i].until(head, func(e pawl.Event) {
			text := string(id)
			switch b := e.Body.(type) {
			case pawl.Progress:
				text = b.Text
			case pawl.SessionTitled:
				text = b.Title
			default:
			}
			if e.Session != id || !strings.HasPrefix(text, string(id)) {
				t.Fatalf("a reader of %s got %v", id, e)
			}
		})
	}
}

// TestServerDies kills the server while events are sent, and restarts it after the last one.
func TestServerDies(t *testing.T) {
	t.Parallel()
	s, st := startServer(t), openStore(t)
	here, there := linked(t, st, s.url(), s.url(), time.Hour)
	grow(t, there, id, 0, 1, "")
	r := read(t, here, id)
	r.until(1, blind)
	grow(t, there, id, 1, 100, "before")
	s.kill()
	grow(t, there, id, 100, 200, "while it is away")
	s.start()
	started := time.Now()
	r.until(200, blind)
	t.Logf("all was read %v after the server was back", time.Since(started).Round(time.Millisecond))
	grow(t, there, id, 200, 300, "after")
	r.until(300, blind)
}

// heard records what a link reports for a session.
type heard struct {
	mu     sync.Mutex
	events []pawl.Event
	missed int
}

func listen(t testing.TB, l *Link, id pawl.SessionID) *heard {
	h := &heard{}
	t.Cleanup(l.Listen(id, func(events []pawl.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, events...)
		if len(events) == 0 {
			h.missed++
		}
	}))
	await(t, "the link listens", func() bool { return h.misses() > 0 })
	return h
}

func (h *heard) misses() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.missed
}

// head returns the highest Seq that was reported.
func (h *heard) head() pawl.Seq {
	h.mu.Lock()
	defer h.mu.Unlock()
	return head(h.events)
}

// TestSenderIsCutOff checks that events that were dropped or lost while the sender was cut off are announced later,
// although the listener has not noticed the failure.
func TestSenderIsCutOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		hole, down bool
	}{{"dropped", false, true}, {"swallowed", true, false}} {
		t.Run(test.name, func(t *testing.T) {
			s := startServer(t)
			w := startWire(t, s)
			from, to := open(t, Config{URL: w.url()}), open(t, Config{URL: s.url()})
			h := listen(t, to, id)
			await(t, "there is a connection", from.Connected)
			w.set(test.hole, test.down)
			if test.down {
				await(t, "the connection is lost", func() bool { return !from.Connected() })
			}
			before := from.Stats()
			e := fact(6, "a title")
			e.Session, e.Seq = id, 7
			from.Send(id, []pawl.Event{e})
			await(t, "it is sent or lost", func() bool {
				now := from.Stats()
				return now.Sent+now.Lost > before.Sent+before.Lost
			})
			w.set(test.hole, true)
			w.set(false, false)
			await(t, "it is notified", func() bool { return h.head() == 7 })
			if got := from.Stats().Reconnects; got < 1 {
				t.Errorf("%d reconnects, want some", got)
			}
		})
	}
}

// TestListenerIsCutOff checks that a listener is notified after a reconnect.
func TestListenerIsCutOff(t *testing.T) {
	t.Parallel()
	w := startWire(t, startServer(t))
	l := open(t, Config{URL: w.url()})
	h := listen(t, l, id)
	await(t, "the second word comes, one confirmEvery after the first", func() bool { return h.misses() > 1 })
	before := h.misses()
	w.set(false, true)
	w.set(false, false)
	await(t, "it is notified", func() bool { return h.misses() > before })
}

// TestListenerIsSlow checks that dropped messages are reported to a slow listener once its queue has space.
func TestListenerIsSlow(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l := open(t, Config{URL: s.url()})
	goOn, blocked, notified := make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	var once sync.Once
	listening := make(chan struct{}, 1)
	t.Cleanup(l.Listen(id, func(events []pawl.Event) {
		if len(events) > 0 {
			once.Do(func() { close(blocked); <-goOn })
			return
		}
		wake(listening)
		select {
		case <-goOn:
			wake(notified)
		default:
		}
	}))
	<-listening
	<-listening // one confirmEvery later; after that, nothing arrives by itself
	c, err := client.Connect(s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 3 * maxArrived {
		if err := c.Publish(subject(id), []byte("[1]")); err != nil {
			t.Fatal(err)
		}
	}
	<-blocked
	await(t, "something is dropped", func() bool { return l.Stats().Lost > 0 })
	close(goOn)
	<-notified
}

// TestNonsense checks that an invalid message counts as missed.
func TestNonsense(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l := open(t, Config{URL: s.url()})
	h := listen(t, l, id)
	await(t, "the second word comes", func() bool { return h.misses() > 1 })
	c, err := client.Connect(s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, m := range []string{"", "{", "[{}]", `["x"]`, `[null,{"v":99,"type":"session.titled"}]`} {
		if err := c.Publish(subject(id), []byte(m)); err != nil {
			t.Fatal(err)
		}
		await(t, fmt.Sprintf("%q is notified of", m), func() bool { return h.misses() > 2+i })
	}
	if got := h.head(); got != 0 {
		t.Errorf("notified of event %d, want none", got)
	}
}

// TestNoServer checks that without a server all durable events still arrive, by polling, and that nothing blocks.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.kill()
	st := openStore(t)
	here, there := linked(t, st, s.url(), s.url(), 5*time.Millisecond)
	grow(t, there, id, 0, 1, "")
	r := read(t, here, id)
	for range 2 * maxQueue {
		there.Publish(pawl.Event{Session: id, Body: pawl.Progress{Text: "x"}})
	}
	grow(t, there, id, 1, 50, "")
	r.until(50, blind)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	const password = "hush-hush"
	s := startServer(t, "--user", "pawl", "--pass", password)
	with := func(p string) string { return strings.Replace(s.url(), "//", "//pawl:"+p+"@", 1) }
	good := open(t, Config{URL: with(password)})
	await(t, "there is a connection", good.Connected)
	if err := good.Health(); err != nil {
		t.Error(err)
	}
	bad := open(t, Config{URL: with("wrong-" + password)})
	await(t, "it is refused", func() bool {
		err := bad.Health()
		return err != nil && strings.Contains(err.Error(), "uthorization")
	})
	if err := bad.Health(); strings.Contains(err.Error(), password) {
		t.Errorf("the password is in %q", err)
	}
	good.Close()
	if good.Health() == nil {
		t.Error("a link that is closed is healthy")
	}
	good.Send(id, []pawl.Event{{Session: id, Body: pawl.Progress{}}})
	good.Listen(id, blindly)()
}

func blindly([]pawl.Event) {}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"nothing":         {},
		"no scheme":       {URL: "hush:4222"},
		"another scheme":  {URL: "http://hush:4222"},
		"no host":         {URL: "nats://hush@:4222"},
		"the second":      {URL: "nats://localhost:4222,nats://us:hush\x7f@localhost"},
		"half a key pair": {URL: "nats://hush@localhost", Cert: "cert.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(c)
			if !errors.Is(err, pawl.ErrInvalid) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got %v, want that it is invalid, without the URL", err)
			}
		})
	}
	if _, err := Open(Config{URL: "nats://hush@localhost", CA: "/nowhere/ca.pem"}); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v, want an error without the URL", err)
	}
	if diff := cmp.Diff("pawl.ev.a_2a_2e_3e_5fZ9", subject("a*.>_Z9")); diff != "" {
		t.Error(diff)
	}
}

// TestNoEcho checks that a link does not receive its own messages.
func TestNoEcho(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	from, to := open(t, Config{URL: s.url()}), open(t, Config{URL: s.url()})
	own, others := listen(t, from, id), listen(t, to, id)
	for n := range pawl.Seq(10) {
		e := fact(n+1, "a title")
		e.Session, e.Seq = id, n+1
		from.Send(id, []pawl.Event{e})
	}
	await(t, "the other has heard it", func() bool { return others.head() == 10 })
	if err := from.conn.FlushTimeout(time.Minute); err != nil { // everything that was sent before has arrived
		t.Fatal(err)
	}
	await(t, "all is shown", func() bool { return len(from.arrived) == 0 })
	if got := from.Stats().Received; got != 0 || own.head() != 0 {
		t.Errorf("got %d of its own messages, up to %d; want none", got, own.head())
	}
}
