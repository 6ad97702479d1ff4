package lineui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// ui is the state of the conversation. Only one goroutine uses it: events and input
// arrive on channels.
type ui struct {
	Config
	out      *printer
	renderer *Renderer
	work     work
	received chan received

	session      pawl.Session  // its ID is "" until a session is open
	sub          *subscription // to the open session; nil until one is open
	subagents    map[pawl.SessionID]*subscription
	disconnected bool // the session's events cannot be read at present
	reasoning    bool // print the model's reasoning too

	startup     []func(ctx context.Context) // pawl's own questions, asked before all others
	pendingAsks []pendingAsk
	question    *question // what the next line answers; nil means that the line is a prompt
	lock        inputLock

	draft         []string // lines of an unsent prompt
	pasted        bool     // the draft contains a paste, so it is sent verbatim
	listed        []pawl.SessionID
	models        []string
	bell          bool
	interruptedAt time.Time // when Ctrl-C was pressed, so that another one quits; zero if it was not
	done          bool
}

func newUI(c Config) *ui {
	v := &printer{w: c.Out, columns: c.Columns, lastWrite: time.Now()}
	u := &ui{Config: c, out: v, work: newWork(), received: make(chan received), subagents: map[pawl.SessionID]*subscription{}}
	u.renderer = newRenderer(v, c.Dir, u.shows)
	return u
}

// shows reports whether an item is printed.
func (u *ui) shows(it transcript.Item) bool {
	return it.Kind != transcript.KindReasoning || u.reasoning
}

// progressEvery is how often a progress line is printed during a turn without other
// output.
const progressEvery = 30 * time.Second

// run handles events and input until the user quits.
func (u *ui) run(ctx context.Context, in <-chan userInput) error {
	for !u.done {
		u.idle(ctx)
		var settled, still <-chan time.Time
		if u.question != nil && u.lock.left > 0 {
			settled = time.After(settleStep)
		} else if u.question == nil && u.work.turn {
			still = time.After(max(0, progressEvery-time.Since(u.out.lastWrite)))
		}
		select {
		case line := <-in:
			u.handleInput(ctx, line)
		case h := <-u.received:
			u.handleReceived(ctx, h)
		case <-u.Interrupts:
			u.interrupt(ctx)
		case <-settled:
			u.settle()
		case <-still:
			u.out.printf("working: %s so far", formatDuration(time.Since(u.work.since)))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// idle shows the next question, if any, and the prompt.
func (u *ui) idle(ctx context.Context) {
	for u.question == nil && len(u.startup) > 0 {
		next := u.startup[0]
		u.startup = u.startup[1:]
		next(ctx)
	}
	if u.question == nil && len(u.pendingAsks) > 0 {
		u.presentAsk(u.pendingAsks[0])
	}
	switch {
	case u.done || u.out.atPrompt():
	case u.question != nil && u.lock.left == 0:
		u.out.prompt(u.question.hint)
	case u.question == nil && len(u.draft) > 0:
		u.out.prompt("+ ")
	case u.question == nil && !u.work.open() && len(u.work.orders) == 0:
		u.out.prompt("> ")
	}
}

// handleInput handles a line or a paste.
func (u *ui) handleInput(ctx context.Context, in userInput) {
	u.interruptedAt = time.Time{}
	switch {
	case in.end:
		u.quit()
	case u.question != nil:
		u.answer(ctx, in)
	default:
		u.out.lineEntered()
		u.handlePromptInput(ctx, in)
	}
}

// handleReceived handles what a subscription delivered.
func (u *ui) handleReceived(ctx context.Context, h received) {
	subagent := u.subagents[h.sub.id] == h.sub
	switch {
	case h.sub != u.sub && !subagent: // of a session that was left
	case subagent && h.ended:
		h.sub.cancel()
		delete(u.subagents, h.sub.id)
		if h.err != nil {
			u.out.printError(fmt.Errorf("follow %s: %w", h.sub.asker, h.err))
		}
	case subagent:
		for _, e := range h.events {
			u.trackAsks(ctx, e, h.sub.asker)
		}
	case h.err != nil:
		if !u.disconnected {
			u.out.printf("connection: lost, reconnecting: %s", sanitizeLine(h.err.Error()))
		}
		u.disconnected = true
	default:
		if u.disconnected {
			u.out.printf("connection: restored")
		}
		u.disconnected = false
		for _, e := range h.events {
			u.sessionEvent(ctx, e)
		}
	}
}

// sessionEvent handles an event of the open session.
func (u *ui) sessionEvent(ctx context.Context, e pawl.Event) {
	u.work.event(e, u.renderer.Apply(e))
	u.trackAsks(ctx, e, "")
	if _, over := e.Body.(pawl.TurnFinished); over && time.Since(u.interruptedAt) > doubleInterrupt {
		u.interruptedAt = time.Time{} // the next Ctrl-C is a first one again
	}
}

// doubleInterrupt is how soon a second Ctrl-C still counts as repeated after the turn
// that the first one interrupted has ended.
const doubleInterrupt = 2 * time.Second

// interrupt handles Ctrl-C: it dismisses a question, drops the draft or interrupts the
// turn; a second one quits.
func (u *ui) interrupt(ctx context.Context) {
	u.out.open, u.out.current = true, nil // the terminal has echoed ^C
	switch {
	case !u.interruptedAt.IsZero():
		u.quit()
	case u.question != nil && u.question.ask == askID{}:
		u.question = nil
		u.out.printf("canceled: nothing changed")
	case len(u.draft) > 0:
		u.draft, u.pasted = nil, false
		u.out.printf("dropped: not sent")
	case u.work.open():
		u.interruptedAt = time.Now()
		u.out.printf("interrupting: press Ctrl-C again to quit")
		id := u.session.ID
		if err := u.runInterruptible(ctx, func(ctx context.Context) error { return u.Service.Cancel(ctx, id) }); err != nil {
			u.out.printError(err)
		}
	default:
		u.interruptedAt = time.Now()
		u.out.printf("press Ctrl-C again to quit, or type /quit")
	}
}

// quit ends the conversation.
func (u *ui) quit() {
	u.done = true
	switch {
	case u.session.ID == "":
		u.out.printf("bye")
	case u.work.open():
		u.out.printf("bye: the turn is unfinished; run `pawl -c` to continue it")
	default:
		u.out.printf("bye: run `pawl -c` to continue this session")
	}
}

// runInterruptible runs work that may take time. Ctrl-C cancels it.
func (u *ui) runInterruptible(ctx context.Context, work func(context.Context) error) error {
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
		case <-u.Interrupts:
			cancel(errInterrupted)
		}
	}
}

var errInterrupted = errors.New("interrupted")

// leaveSession closes the open session's subscriptions and resets the state.
func (u *ui) leaveSession() {
	if u.sub != nil {
		u.sub.cancel()
	}
	for _, e := range u.subagents {
		e.cancel()
	}
	clear(u.subagents)
	u.sub, u.session, u.pendingAsks, u.disconnected = nil, pawl.Session{}, nil, false
	u.work, u.renderer = newWork(), newRenderer(u.out, u.Dir, u.shows)
}

// pageEvents is how many of a session's last events are read when it is opened.
const pageEvents = 400

// openSession opens a session: it prints the last turn again and resumes interrupted
// work.
func (u *ui) openSession(ctx context.Context, id pawl.SessionID) error {
	var s pawl.Session
	var events []pawl.Event
	var subagents pawl.SessionPage
	err := u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		if s, err = u.Service.Get(ctx, id); err != nil {
			return err
		}
		if events, err = u.lastEvents(ctx, s); err != nil {
			return err
		}
		subagents, err = u.Service.List(ctx, pawl.Filter{Parent: id, Unfinished: true})
		return err
	})
	if err != nil {
		return err
	}
	u.leaveSession()
	u.session, u.renderer.dir = s, s.Dir
	u.out.printf("session: %s, %s", sessionTitle(s), humanize.Plural(s.Turns, "turn"))
	u.renderer.open(events)
	u.work.turn, u.work.since = s.TurnOpen, time.Now()
	u.work.update(u.renderer.items.Items())
	for _, e := range events {
		if _, ok := e.Subagent(); !ok { // unfinished subagents are followed below
			u.trackAsks(ctx, e, "")
		}
	}
	u.follow(ctx, id, s.Head)
	for _, c := range subagents.Sessions {
		u.followSubagent(ctx, c.ID, fmt.Sprintf("subagent %q", sanitizeLine(c.Name())))
	}
	if s.State() != pawl.StateIdle {
		return u.resume(ctx, id)
	}
	return nil
}

// resume continues interrupted work.
func (u *ui) resume(ctx context.Context, id pawl.SessionID) error {
	err := u.runInterruptible(ctx, func(ctx context.Context) error { return u.Service.Resume(ctx, id) })
	switch {
	case errors.Is(err, pawl.ErrBusy):
		u.out.printf("note: another Pawl process works on this session; its progress is shown here")
		return nil
	case err == nil:
		u.out.printf("note: resuming the interrupted turn")
	}
	return err
}

// lastEvents reads the end of a session.
func (u *ui) lastEvents(ctx context.Context, s pawl.Session) ([]pawl.Event, error) {
	var events []pawl.Event
	if s.Head == 0 {
		return nil, nil
	}
	for e, err := range u.Service.Events(ctx, s.ID, max(0, s.Head-pageEvents)) {
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

// sessionTitle returns the session's title, sanitized.
func sessionTitle(s pawl.Session) string {
	if text := strings.TrimSpace(s.Name()); text != "" {
		return sanitizeLine(text)
	}
	return "untitled"
}
