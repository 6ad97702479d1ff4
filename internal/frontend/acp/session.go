package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
)

// session is one that the editor has open.
type session struct {
	id           pawl.SessionID
	dir          string
	head         pawl.Seq // its newest event when it was opened
	svc          pawl.Service
	editor       editor
	mask         Mask
	running      *sync.WaitGroup // what works for the connection
	stop         context.CancelFunc
	followed     chan struct{} // closed once the session is heard, or is not to be
	markFollowed func()        // closes it
	buffers      *buffers      // nil if the editor cannot say what it has open

	mu        sync.Mutex
	settings  pawl.Settings        // of the next prompt
	model     string               // of a prompt that names none; "" means that of the last one
	notes     []string             // to be shown with the next prompt
	queued    []*entry             // prompts that have not come to their end
	waiters   map[pawl.Seq]*waiter // by the prompt that the editor waits for
	cancels   int                  // how often the editor has canceled
	closedErr error                // why nobody hears the session any more
}

// entry is a prompt that has come. It keeps its place: a cancel that comes after
// it is meant for it, though it be not sent yet.
type entry struct{ canceled bool }

// wait is for the end of the turn that takes a prompt in.
type waiter struct {
	turn int
	done chan ending // has room for one
}

type ending struct {
	finished pawl.TurnFinished
	err      error
}

// enter takes note of a prompt, in the order in which messages come.
func (s *session) enqueue() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &entry{}
	s.queued = append(s.queued, e)
	return e
}

// leave forgets a prompt that has come to its end.
func (s *session) dequeue(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued = slices.DeleteFunc(s.queued, func(other *entry) bool { return other == e })
}

// canceled says how often the editor has canceled so far.
func (s *session) canceled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels
}

// cancel ends all that the editor has asked for so far.
func (s *session) cancel(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels++
	for _, e := range s.queued {
		e.canceled = true
	}
	return s.svc.Cancel(ctx, s.id)
}

// prompt sends a prompt and waits for the end of its turn: all of it has been
// shown by then. While a turn is open, it is worked on after that.
func (s *session) prompt(ctx context.Context, e *entry, blocks []block, expand Expand) (pawl.TurnFinished, error) {
	defer s.dequeue(e)
	if s.buffers != nil {
		s.buffers.unresponsive.Store(false)
	}
	p, notes, err := s.buildPrompt(ctx, blocks, expand)
	if err != nil {
		return pawl.TurnFinished{}, err
	}
	for _, n := range notes {
		s.showNote(ctx, n)
	}
	<-s.followed // or the first words of the reply would be missed
	w, err := s.send(ctx, e, p)
	if err != nil || w == nil {
		return pawl.TurnFinished{Reason: pawl.ReasonCanceled}, err
	}
	end := <-w.done // there is one when the connection ends, too
	return end.finished, end.err
}

// made is the prompt that blocks come to.
func (s *session) buildPrompt(ctx context.Context, blocks []block, expand Expand) (p pawl.Prompt, notes []string, err error) {
	if p.Parts, err = s.parts(ctx, blocks); err != nil {
		return p, nil, err
	}
	s.mu.Lock()
	model := s.model
	p.Settings = s.settings
	notes, s.notes = s.notes, nil
	s.mu.Unlock()
	p.Delivery = pawl.DeliverQueue
	if expand != nil {
		var more []string
		more, err = expand(ctx, s.dir, &p)
		notes = append(notes, more...)
	}
	p.Model = cmp.Or(p.Model, model)
	return p, notes, err
}

// send gives the session a prompt, unless it was canceled meanwhile. What hears
// the session knows of the wait before it can see the prompt.
func (s *session) send(ctx context.Context, e *entry, p pawl.Prompt) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.canceled {
		return nil, nil
	}
	if s.closedErr != nil {
		return nil, fmt.Errorf("the session is not heard any more: load it again: %w", s.closedErr)
	}
	seq, err := s.svc.Send(ctx, s.id, p)
	if err != nil {
		return nil, err
	}
	w := &waiter{done: make(chan ending, 1)}
	s.waiters[seq] = w
	return w, nil
}

// note shows a word of pawl's own. One that cannot be shown is lost with the
// connection, which ends for the same reason.
func (s *session) showNote(ctx context.Context, text string) {
	_ = s.editor.show(ctx, s.id, messageChunk{role: roleThought, text: "pawl: " + text + "\n\n"})
}

// expects reports whether the editor waits for a prompt, and so has shown it.
func (s *session) awaits(prompt pawl.Seq) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiters[prompt] != nil
}

// follow tells the waits what an event means for them. It is called when the
// event has been shown.
func (s *session) notifyWaiters(e pawl.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := e.Body.(type) {
	case pawl.Prompted:
		if w := s.waiters[b.Again]; w != nil { // the turn that took it in was canceled before it came
			delete(s.waiters, b.Again)
			s.waiters[e.Seq], w.turn = w, 0
		}
	case pawl.TurnStarted:
		s.promptTaken(b.Prompt, e.Turn)
	case pawl.Injected:
		s.promptTaken(b.Prompt, e.Turn)
	case pawl.Withdrawn:
		s.finish(b.Prompt, ending{finished: pawl.TurnFinished{Reason: pawl.ReasonCanceled}})
	case pawl.TurnFinished:
		for seq, w := range s.waiters {
			if w.turn == e.Turn {
				s.finish(seq, ending{finished: b})
			}
		}
	case pawl.ModeChanged:
		s.settings.Mode = b.Mode
	case pawl.Status:
		if b.State == "interrupted" {
			s.fail(errors.New("the work stopped: " + b.Message + "; load the session again to go on"))
		}
	default: // no news for a wait
	}
}

func (s *session) promptTaken(prompt pawl.Seq, turn int) {
	if w := s.waiters[prompt]; w != nil {
		w.turn = turn
	}
}

func (s *session) finish(prompt pawl.Seq, end ending) {
	if w := s.waiters[prompt]; w != nil {
		delete(s.waiters, prompt)
		w.done <- end
	}
}

// fail ends all waits.
func (s *session) fail(err error) {
	for seq := range s.waiters {
		s.finish(seq, ending{err: err})
	}
}

// close says that nobody hears the session any more.
func (s *session) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closedErr = err
	s.markFollowed()
	s.fail(err)
}
