package agent

import (
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
)

// sessionState is everything that a Stepper remembers about one session. A
// sessionStates owns it, from the first value to remember until the last one is
// dropped: see Stepper.Forget and Stepper.End. The lock of the owner guards it.
type sessionState struct {
	// journal is the log as read so far; nil until a step needs it, and after Forget.
	journal *journal
	// startHooks is where the session.start hooks ran; nil until they have, and after End.
	startHooks *hookContext
	// hookTexts are what hooks want the model to read before its next step.
	hookTexts []string
	// pending is what Interrupt can cancel while no turn is open; nil if nothing is.
	pending *pendingWork
	// canceledUpTo is the Seq up to which shell commands of the user are not run; 0
	// after Forget.
	canceledUpTo pawl.Seq
}

// pendingWork is a prompt that waits for hooks, or a shell command of the user that
// runs, before a turn begins.
type pendingWork struct {
	seq    pawl.Seq // of the prompt or the command
	cancel func()
}

func (st *sessionState) empty() bool {
	return st.journal == nil && st.startHooks == nil && len(st.hookTexts) == 0 && st.pending == nil && st.canceledUpTo == 0
}

// sessionStates holds the state of each session. The zero value is ready to use.
type sessionStates struct {
	mu   sync.Mutex
	byID map[pawl.SessionID]*sessionState
}

// update calls f with the session's state, under the lock: f must not block. A
// session without state gets an empty one; a state that is empty afterwards is removed.
func (s *sessionStates) update(id pawl.SessionID, f func(*sessionState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.byID[id]
	if st == nil {
		st = &sessionState{}
	}
	f(st)
	switch {
	case st.empty():
		delete(s.byID, id)
	case s.byID == nil:
		s.byID = map[pawl.SessionID]*sessionState{id: st}
	default:
		s.byID[id] = st
	}
}

// addHookTexts keeps texts of hooks for the model's next step.
func (s *sessionStates) addHookTexts(id pawl.SessionID, texts []string) {
	s.update(id, func(st *sessionState) { st.hookTexts = append(st.hookTexts, texts...) })
}

// takeHookTexts removes and returns the texts of hooks that the model has not read yet.
func (s *sessionStates) takeHookTexts(id pawl.SessionID) (texts []string) {
	s.update(id, func(st *sessionState) { texts, st.hookTexts = slices.Clone(st.hookTexts), nil })
	return texts
}

// setPending registers what Interrupt can cancel in the session. It reports whether
// an earlier Interrupt covers a shell command with this Seq already.
func (s *sessionStates) setPending(id pawl.SessionID, w pendingWork) (canceled bool) {
	s.update(id, func(st *sessionState) {
		st.pending = &w
		canceled = w.seq <= st.canceledUpTo
	})
	return canceled
}

func (s *sessionStates) clearPending(id pawl.SessionID) {
	s.update(id, func(st *sessionState) { st.pending = nil })
}
