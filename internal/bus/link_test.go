package bus_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/bus/bustest"
)

// mesh links buses in memory. By default all arrives at once.
type mesh struct {
	mu    sync.Mutex
	links []*meshLink
	fate  func(deliver func()) // what happens to a message; nil delivers it
}

type meshLink struct {
	mesh *mesh
	ears map[pawl.SessionID]func([]pawl.Event)
}

func (m *mesh) link() *meshLink {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &meshLink{mesh: m, ears: map[pawl.SessionID]func([]pawl.Event){}}
	m.links = append(m.links, l)
	return l
}

func (l *meshLink) Send(id pawl.SessionID, events []pawl.Event) {
	deliver := func() {
		for _, other := range l.mesh.links {
			if other != l {
				other.receive(id, events)
			}
		}
	}
	if l.mesh.fate == nil {
		deliver()
		return
	}
	l.mesh.fate(deliver)
}

func (l *meshLink) receive(id pawl.SessionID, events []pawl.Event) {
	l.mesh.mu.Lock()
	receive := l.ears[id]
	l.mesh.mu.Unlock()
	if receive != nil {
		receive(events)
	}
}

func (l *meshLink) Listen(id pawl.SessionID, receive func([]pawl.Event)) func() {
	l.mesh.mu.Lock()
	defer l.mesh.mu.Unlock()
	if l.ears[id] != nil {
		panic("listens twice to " + id)
	}
	l.ears[id] = receive
	return func() {
		l.mesh.mu.Lock()
		defer l.mesh.mu.Unlock()
		delete(l.ears, id)
	}
}

// listens returns the sessions that the link listens to.
func (l *meshLink) listens() int {
	l.mesh.mu.Lock()
	defer l.mesh.mu.Unlock()
	return len(l.ears)
}

func TestContractLinked(t *testing.T) { //nolint:paralleltest // it counts goroutines
	bustest.Run(t, func(t *testing.T) bustest.Harness {
		st, m := openStore(t), &mesh{}
		here := bus.Config{Queue: 64, Poll: time.Second, Link: m.link()}
		there := bus.Config{Queue: 64, Poll: time.Second, Link: m.link()}
		return bustest.Harness{Bus: bus.New(st, here), Other: bus.New(st, there), Store: st}
	})
}

// What another bus appends and publishes comes without a look at the store.
func TestLinkReports(t *testing.T) {
	t.Parallel()
	st, m := &spy{Store: openStore(t)}, &mesh{}
	here := bus.New(st, bus.Config{Poll: time.Hour, Link: m.link()})
	there := bus.New(st, bus.Config{Poll: time.Hour, Link: m.link()})
	grow(t, there, 0)
	var got []pawl.Seq
	for seq := range read(t, here) {
		got = append(got, seq)
		switch seq {
		case 0:
			grow(t, there, 2)
		case 1:
			grow(t, there, 1)
		case 2:
			there.Publish(pawl.Event{Session: id, Body: pawl.Progress{Text: "half"}})
		}
		if seq == 3 {
			break
		}
	}
	if diff := cmp.Diff([]pawl.Seq{1, 2, 0, 3}, got); diff != "" {
		t.Error(diff)
	}
	if n := st.logs.Load(); n != 1 {
		t.Errorf("the log was read %d times, want once at the beginning", n)
	}
}

// A notice, and the word that something was missed, have the reader look at the store at once.
func TestLinkNotices(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string][]pawl.Event{
		"up to a number": {{Session: id, Seq: 3}},
		"missed":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			st, m := openStore(t), &mesh{}
			link := m.link()
			b := bus.New(st, bus.Config{Poll: time.Hour, Link: link})
			grow(t, st, 0)
			var got []pawl.Seq
			for seq := range read(t, b) {
				got = append(got, seq)
				if seq == 1 {
					grow(t, st, 1)
					grow(t, st, 2)
					link.receive(id, notice)
				}
				if seq == 3 {
					break
				}
			}
			if diff := cmp.Diff([]pawl.Seq{1, 2, 3}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever comes by the link, a reader is shown nothing of another session and
// nothing that cannot be in a log.
func TestLinkRefuses(t *testing.T) {
	t.Parallel()
	m := &mesh{}
	link := m.link()
	b := bus.New(openStore(t), bus.Config{Poll: time.Hour, Link: link})
	grow(t, b, 0)
	got := follow(t, b)
	link.receive(id, []pawl.Event{
		{Session: "01JD0000000000000000000001", Seq: 2, Body: pawl.SessionTitled{Title: "of another"}},
		{Session: "01JD0000000000000000000001", Body: pawl.Progress{Text: "of another"}},
		{Session: id, Body: pawl.SessionTitled{Title: "without a number"}},
		{Session: id, Seq: 2, Body: pawl.Progress{Text: "with a number"}},
		{Session: id, Seq: -1, Body: pawl.Progress{Text: "below all"}},
		{Session: id, Seq: 900}, // a notice of what does not exist
	})
	grow(t, b, 1)
	var bodies []pawl.Body
	for _, e := range got(2) {
		bodies = append(bodies, e.Body)
	}
	want := []pawl.Body{pawl.SessionCreated{Dir: "/project"}, pawl.SessionTitled{Title: "a title"}}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
}

// A bus listens to a session while somebody reads it here, and only then.
func TestLinkIsLeft(t *testing.T) {
	t.Parallel()
	m := &mesh{}
	link := m.link()
	b := bus.New(openStore(t), bus.Config{Poll: time.Hour, Link: link})
	grow(t, b, 0)
	for range read(t, b) {
		for range read(t, b) {
			break
		}
		if got := link.listens(); got != 1 {
			t.Errorf("listens to %d sessions while there is a reader, want 1", got)
		}
		break
	}
	if got := link.listens(); got != 0 {
		t.Errorf("listens to %d sessions without a reader, want 0", got)
	}
}

// Messages that are lost, repeated and late never break the stream of durable
// events, and a delta never comes before its reply.
func TestLinkMisbehaves(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	rapid.Check(t, func(rt *rapid.T) {
		_ = st.Delete(t.Context(), id) // what the last round left, if there was one
		m := &mesh{}
		link := m.link()
		here := bus.New(st, bus.Config{Queue: rapid.IntRange(1, 8).Draw(rt, "queue"), Poll: time.Hour, Link: link})
		there := bus.New(st, bus.Config{Poll: time.Hour, Link: m.link()})
		grow(t, there, 0)
		m.fate = misbehave(rt)
		got := follow(t, here)
		head := pawl.Seq(1)
		for range rapid.IntRange(1, 30).Draw(rt, "events") {
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				there.Publish(pawl.Event{Session: id, Body: pawl.Delta{Reply: head, Text: "word"}})
				continue
			case 1:
				grow(t, here, head)
			default:
				grow(t, there, head)
			}
			head++
		}
		link.receive(id, nil) // as a link must that has lost something
		checkFollowed(rt, got(head), head)
	})
}

// misbehave returns a fate that is drawn for each message.
func misbehave(rt *rapid.T) (fate func(deliver func())) {
	var held []func()
	return func(deliver func()) {
		switch rapid.IntRange(0, 4).Draw(rt, "fate") {
		case 0: // lost
		case 1:
			deliver()
			deliver()
		case 2:
			held = append(held, deliver)
		case 3:
			deliver()
			slices.Reverse(held)
			for _, late := range held {
				late()
			}
			held = nil
		default:
			deliver()
		}
	}
}

// follow reads in the background. What it returns waits for the event numbered head and returns all.
func follow(t *testing.T, b *bus.Bus) func(head pawl.Seq) []pawl.Event {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	events, joined := make(chan pawl.Event, 10_000), make(chan struct{})
	go func() {
		defer close(events)
		for e, err := range b.Events(ctx, id, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			events <- e
			if e.Seq == 1 {
				close(joined)
			}
		}
	}()
	<-joined
	return func(head pawl.Seq) (all []pawl.Event) {
		defer cancel()
		for e := range events {
			all = append(all, e)
			if e.Seq == head {
				cancel()
			}
		}
		return all
	}
}

func checkFollowed(rt *rapid.T, got []pawl.Event, head pawl.Seq) {
	last := pawl.Seq(0)
	for _, e := range got {
		if d, ok := e.Body.(pawl.Delta); ok && d.Reply > last {
			rt.Fatalf("a delta of %d came after %d", d.Reply, last)
		}
		if e.Seq != 0 && e.Seq != last+1 {
			rt.Fatalf("event %d came after %d", e.Seq, last)
		}
		last = max(last, e.Seq)
	}
	if last != head {
		rt.Fatalf("the events ended at %d, want %d", last, head)
	}
}
