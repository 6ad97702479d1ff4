package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// session is a session that is open in the editor.
type session struct {
	id           pawl.SessionID
	dir          string
	head         pawl.Seq // last event when it was opened
	svc          pawl.Service
	editor       editor
	mask         Mask
	window       func(ref string) int64                            // see Config
	options      func(ctx context.Context) ([]configOption, error) // the user's choices
	running      *sync.WaitGroup                                   // the connection's goroutines
	stop         context.CancelFunc
	followed     chan struct{} // closed once events are followed, or cannot be
	markFollowed func()        // closes followed
	buffers      *buffers      // nil if the editor cannot provide unsaved files

	mu        sync.Mutex
	settings  pawl.Settings        // of the next prompt
	model     string               // of a prompt without one; "" means the model of the last prompt
	lastModel string               // of the newest prompt when the session was opened
	notes     []string             // shown with the next prompt
	queued    []*entry             // unfinished prompts
	drained   chan struct{}        // closed once no prompt is unfinished; nil if none is
	waiters   map[pawl.Seq]*waiter // by prompt
	cancels   int                  // how often the editor has canceled
	closedErr error                // why events are not followed any more
}

// entry is a prompt that was received. A cancel that is received later applies to it
// even if it was not sent to the service yet.
type entry struct{ canceled bool }

// waiter waits for the end of the turn that a prompt belongs to.
type waiter struct {
	turn int
	done chan ending // buffered for one value
}

type ending struct {
	finished pawl.TurnFinished
	err      error
}

// set changes the settings of the next prompt.
func (s *session) set(change func(*pawl.Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.settings)
}

// enqueue records a prompt, in the order in which messages are received.
func (s *session) enqueue() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained == nil {
		s.drained = make(chan struct{})
	}
	e := &entry{}
	s.queued = append(s.queued, e)
	return e
}

// dequeue removes a finished prompt.
func (s *session) dequeue(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued = slices.DeleteFunc(s.queued, func(other *entry) bool { return other == e })
	if len(s.queued) == 0 {
		close(s.drained)
		s.drained = nil
	}
}

// drain waits for the end of canceled prompts, at most for closeTime.
func (s *session) drain() {
	s.mu.Lock()
	drained := s.drained
	s.mu.Unlock()
	if drained == nil {
		return
	}
	select {
	case <-drained:
	case <-time.After(closeTime):
	}
}

// closeTime bounds how long closing or deleting a session waits for its work to end.
const closeTime = 5 * time.Second

// canceled returns how often the editor has canceled so far.
func (s *session) canceled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels
}

// cancel cancels all prompts received so far.
func (s *session) cancel(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels++
	for _, e := range s.queued {
		e.canceled = true
	}
	return s.svc.Cancel(ctx, s.id)
}

// prompt sends a prompt and waits for the end of its turn; all of its events have been
// shown by then. If another turn is running, the prompt is queued.
func (s *session) prompt(ctx context.Context, e *entry, blocks []block) (pawl.TurnFinished, error) {
	defer s.dequeue(e)
	if s.buffers != nil {
		s.buffers.unresponsive.Store(false)
	}
	p, notes, err := s.buildPrompt(ctx, blocks)
	if err != nil {
		return pawl.TurnFinished{}, err
	}
	for _, n := range notes {
		s.showNote(ctx, n)
	}
	<-s.followed // otherwise the first deltas could be missed
	w, err := s.send(ctx, e, p)
	if err != nil || w == nil {
		return pawl.TurnFinished{Reason: pawl.ReasonCanceled}, err
	}
	end := <-w.done // also sent when the connection ends
	return end.finished, end.err
}

// buildPrompt builds a prompt from blocks and the session's settings.
func (s *session) buildPrompt(ctx context.Context, blocks []block) (p pawl.Prompt, notes []string, err error) {
	if p.Parts, err = s.parts(ctx, blocks); err != nil {
		return p, nil, err
	}
	s.mu.Lock()
	model := s.model
	p.Settings = s.settings
	notes, s.notes = s.notes, nil
	s.mu.Unlock()
	p.Delivery = pawl.DeliverQueue
	p, more, err := s.svc.Expand(ctx, s.dir, p)
	notes = append(notes, more...)
	p.Model = cmp.Or(p.Model, model)
	return p, notes, err
}

// send sends a prompt, unless it was canceled. It holds the lock, so that the waiter
// is registered before its events are handled.
func (s *session) send(ctx context.Context, e *entry, p pawl.Prompt) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.canceled {
		return nil, nil
	}
	if s.closedErr != nil {
		return nil, fmt.Errorf("the session is closed, load it again: %w", s.closedErr)
	}
	seq, err := s.svc.Send(ctx, s.id, p)
	if err != nil {
		return nil, err
	}
	w := &waiter{done: make(chan ending, 1)}
	s.waiters[seq] = w
	return w, nil
}

// showNote shows one of pawl's own messages. An error is ignored: the connection ends
// for the same reason.
func (s *session) showNote(ctx context.Context, text string) {
	_ = s.editor.show(ctx, s.id, messageChunk{role: roleThought, text: "pawl: " + text + "\n\n"})
}

// awaits reports whether the editor has sent this prompt, and so has shown it.
func (s *session) awaits(prompt pawl.Seq) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiters[prompt] != nil
}

// notifyWaiters updates the waiters for an event that has been shown.
func (s *session) notifyWaiters(e pawl.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := e.Body.(type) {
	case pawl.Prompted:
		if w := s.waiters[b.Again]; w != nil { // its turn was canceled before the model read it, so it was sent again
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
	case pawl.Status:
		if b.State == "interrupted" {
			s.fail(errors.New("the turn was interrupted: " + b.Message + ". Load the session again to continue."))
		}
	default: // no effect on waiters
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

// fail ends all waiters with an error.
func (s *session) fail(err error) {
	for seq := range s.waiters {
		s.finish(seq, ending{err: err})
	}
}

// close records that events are not followed any more.
func (s *session) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closedErr = err
	s.markFollowed()
	s.fail(err)
}
