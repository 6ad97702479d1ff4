package lineui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// talk is the conversation with the person. One goroutine has it: what is heard and
// typed comes to it one by one.
type talk struct {
	Config
	voice  *voice
	teller *teller
	heard  chan heard

	session  pawl.Session // its ID is "" until there is one
	ear      *ear         // on it; nil until there is one
	children map[pawl.SessionID]*ear
	lost     bool // the session cannot be heard

	later    []func(ctx context.Context) // questions that pawl has for the person, before all others
	waiting  []asking
	question *question // what the next line answers; nil means that it is a prompt
	lock     lock

	draft    []string // lines of a prompt that is not sent yet
	pasted   bool     // the draft has such lines: its words are taken as they are
	listed   []pawl.SessionID
	models   []string
	bell     bool
	quitting time.Time // when an interrupt came, so that one more ends it; zero: none did
	over     bool
}

func newTalk(c Config) *talk {
	v := &voice{w: c.Out, columns: c.Columns, spoke: time.Now()}
	return &talk{Config: c, voice: v, teller: newTeller(v, c.Dir), heard: make(chan heard), children: map[pawl.SessionID]*ear{}}
}

// stillEvery is how often a person is told that pawl works, while nothing is said.
const stillEvery = 30 * time.Second

// run takes what comes until the person ends it.
func (t *talk) run(ctx context.Context, in <-chan typed) error {
	for !t.over {
		t.rest(ctx)
		var settled, still <-chan time.Time
		if t.question != nil && t.lock.left > 0 {
			settled = time.After(settleStep)
		} else if t.question == nil && t.teller.open {
			still = time.After(max(0, stillEvery-time.Since(t.voice.spoke)))
		}
		select {
		case line := <-in:
			t.typed(ctx, line)
		case h := <-t.heard:
			t.hears(ctx, h)
		case <-t.Interrupts:
			t.interrupt(ctx)
		case <-settled:
			t.settle()
		case <-still:
			t.voice.say("working: %s so far", took(time.Since(t.teller.began)))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// rest asks what is to be asked, and shows that a line can be typed.
func (t *talk) rest(ctx context.Context) {
	for t.question == nil && len(t.later) > 0 {
		next := t.later[0]
		t.later = t.later[1:]
		next(ctx)
	}
	if t.question == nil && len(t.waiting) > 0 {
		t.put(t.waiting[0])
	}
	switch {
	case t.over || t.voice.prompted():
	case t.question != nil && t.lock.left == 0:
		t.voice.prompt(t.question.hint)
	case t.question == nil && len(t.draft) > 0:
		t.voice.prompt("+ ")
	case t.question == nil && !t.teller.working() && len(t.teller.ordered) == 0:
		t.voice.prompt("> ")
	}
}

// typed takes what the person has typed.
func (t *talk) typed(ctx context.Context, in typed) {
	t.quitting = time.Time{}
	switch {
	case in.end:
		t.quit()
	case t.question != nil:
		t.answer(ctx, in)
	default:
		t.voice.typed()
		t.write(ctx, in)
	}
}

// hears takes what was heard of a session.
func (t *talk) hears(ctx context.Context, h heard) {
	child := t.children[h.ear.id] == h.ear
	switch {
	case h.ear != t.ear && !child: // of a session that is not talked about any more
	case child && h.ended:
		h.ear.cancel()
		delete(t.children, h.ear.id)
		if h.err != nil {
			t.voice.fail(fmt.Errorf("what %s asks cannot be heard: %w", h.ear.who, h.err))
		}
	case child:
		for _, e := range h.events {
			t.asks(ctx, e, h.ear.who)
		}
	case h.err != nil:
		if !t.lost {
			t.voice.say("lost: the session cannot be heard, trying again: %s", name(h.err.Error()))
		}
		t.lost = true
	default:
		if t.lost {
			t.voice.say("found: the session is heard again")
		}
		t.lost = false
		for _, e := range h.events {
			t.happens(ctx, e)
		}
	}
}

// happens tells an event of the session.
func (t *talk) happens(ctx context.Context, e pawl.Event) {
	t.teller.event(e)
	t.asks(ctx, e, "")
	if _, over := e.Body.(pawl.TurnFinished); over && time.Since(t.quitting) > quickly {
		t.quitting = time.Time{} // the next one is for something else
	}
}

// quickly is how soon after one interrupt another means the same work, though that
// has ended meanwhile.
const quickly = 2 * time.Second

// interrupt takes a Ctrl-C: it leaves what is asked or written, or interrupts the
// work; one more ends pawl.
func (t *talk) interrupt(ctx context.Context) {
	t.voice.open, t.voice.margin = true, nil // the terminal has shown ^C
	switch {
	case !t.quitting.IsZero():
		t.quit()
	case t.question != nil && t.question.of == askID{}:
		t.question = nil
		t.voice.say("left: nothing was done")
	case len(t.draft) > 0:
		t.draft, t.pasted = nil, false
		t.voice.say("dropped: what was written is not sent")
	case t.teller.working():
		t.quitting = time.Now()
		t.voice.say("interrupting: Ctrl-C again ends pawl")
		id := t.session.ID
		if err := t.do(ctx, func(ctx context.Context) error { return t.Service.Cancel(ctx, id) }); err != nil {
			t.voice.fail(err)
		}
	default:
		t.quitting = time.Now()
		t.voice.say("Ctrl-C again ends pawl, as /quit does")
	}
}

// quit ends the conversation.
func (t *talk) quit() {
	t.over = true
	switch {
	case t.session.ID == "":
		t.voice.say("bye")
	case t.teller.working():
		t.voice.say("bye: the work is not done; 'pawl -c' goes on with it")
	default:
		t.voice.say("bye: 'pawl -c' goes on with this session")
	}
}

// do does what may take time. An interrupt ends it.
func (t *talk) do(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	for {
		select {
		case err := <-done:
			if err != nil && context.Cause(ctx) != nil {
				return context.Cause(ctx)
			}
			return err
		case <-t.Interrupts:
			cancel(errLeft)
		}
	}
}

var errLeft = errors.New("interrupted")

// leave ends listening to the session that was talked about.
func (t *talk) leave() {
	if t.ear != nil {
		t.ear.cancel()
	}
	for _, e := range t.children {
		e.cancel()
	}
	clear(t.children)
	t.ear, t.session, t.waiting, t.lost = nil, pawl.Session{}, nil, false
	reasoning := t.teller.reasoning
	t.teller = newTeller(t.voice, t.Dir)
	t.teller.reasoning = reasoning
}

// pageEvents is how many events of a session are read when it is opened.
const pageEvents = 400

// open talks about a session. Its newest turn is said again, and work that was
// broken off goes on.
func (t *talk) open(ctx context.Context, id pawl.SessionID) error {
	var s pawl.Session
	var events []pawl.Event
	var children []pawl.Session
	err := t.do(ctx, func(ctx context.Context) (err error) {
		if s, err = t.Service.Get(ctx, id); err != nil {
			return err
		}
		if events, err = t.page(ctx, s); err != nil {
			return err
		}
		children, err = t.Service.List(ctx, pawl.Filter{Parent: id, Unfinished: true})
		return err
	})
	if err != nil {
		return err
	}
	t.leave()
	t.session, t.teller.dir = s, s.Dir
	t.voice.say("session: %s, %s", orUnnamed(s), humanize.Plural(s.Turns, "turn"))
	from := newest(events)
	for i, e := range events {
		if i < from {
			t.teller.skip(e)
			continue
		}
		t.teller.event(e)
		if _, ok := pawl.ChildOf(e.Body); !ok { // the subagents that still work are known
			t.asks(ctx, e, "")
		}
	}
	t.follow(ctx, id, s.Head)
	for _, c := range children {
		t.hear(ctx, c.ID, fmt.Sprintf("the task %q", name(c.Name())))
	}
	if s.State() != pawl.StateIdle {
		return t.resume(ctx, id)
	}
	return nil
}

// resume goes on with what was broken off.
func (t *talk) resume(ctx context.Context, id pawl.SessionID) error {
	err := t.do(ctx, func(ctx context.Context) error { return t.Service.Resume(ctx, id) })
	switch {
	case errors.Is(err, pawl.ErrBusy):
		t.voice.say("note: another pawl works on it, and what it does is told here")
		return nil
	case err == nil:
		t.voice.say("note: the work that was broken off goes on")
	}
	return err
}

// page reads the end of a session.
func (t *talk) page(ctx context.Context, s pawl.Session) ([]pawl.Event, error) {
	var events []pawl.Event
	if s.Head == 0 {
		return nil, nil
	}
	for e, err := range t.Service.Events(ctx, s.ID, max(0, s.Head-pageEvents)) {
		if err != nil {
			return nil, err
		}
		if e.Seq != 0 {
			events = append(events, e)
		}
		if e.Seq >= s.Head {
			break
		}
	}
	return events, ctx.Err()
}

// newest is where the newest turn begins, or what has undone it.
func newest(events []pawl.Event) int {
	from := 0
	for i, e := range events {
		switch b := e.Body.(type) {
		case pawl.TurnStarted:
			from = i
		case pawl.Reverted:
			if b.Refused == "" {
				from = i
			}
		default:
		}
	}
	return from
}

// orUnnamed is what a session is called.
func orUnnamed(s pawl.Session) string {
	if text := strings.TrimSpace(s.Name()); text != "" {
		return name(text)
	}
	return "without a name"
}
