package pawl

import (
	"errors"
	"iter"
)

// ErrRewound is what [History.Apply] returns for an event that took the session
// back, or forward again: what was applied before does not hold any more, and
// [Fold] has to read the log anew.
var ErrRewound = errors.New("the session went back: its log must be read anew")

// Fold reads a session's log whole. events yields what is in it after a Seq, as
// [store.Store.Events] does, and may be asked more than once.
func Fold(events func(after Seq) iter.Seq2[Event, error]) (*History, error) {
	h := &History{}
	for {
		err := h.readAll(events)
		if !errors.Is(err, ErrRewound) {
			return h, err
		}
		// Parts of the log do not count. Which, only all of it tells.
		h = &History{}
		for e, err := range events(0) {
			if err != nil {
				return nil, err
			}
			h.undone.add(e)
			h.scanned = e.Seq
		}
	}
}

func (h *History) readAll(events func(after Seq) iter.Seq2[Event, error]) error {
	for e, err := range events(0) {
		if err != nil {
			return err
		}
		if err := h.Apply(e); err != nil {
			return err
		}
	}
	return nil
}

// FoldEvents is [Fold] for a log in memory.
func FoldEvents(events []Event) (*History, error) { return Fold(SliceLog(events)) }

// SliceLog is a log in memory, as [Fold] and [Live] read it.
func SliceLog(events []Event) func(after Seq) iter.Seq2[Event, error] {
	return func(after Seq) iter.Seq2[Event, error] {
		return func(yield func(Event, error) bool) {
			for _, e := range events {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// EffectiveEvents yields the events of a log that were not undone, oldest first.
// With ScopeFiles those are the events whose file changes were not undone,
// otherwise the events of the conversation: each can be undone without the other.
func EffectiveEvents(events func(after Seq) iter.Seq2[Event, error], what Scope) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var u undone
		for e, err := range events(0) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			u.add(e)
		}
		gone := u.spans
		if what == ScopeFiles {
			gone = u.files
		}
		for e, err := range events(0) {
			if err == nil && within(gone, e.Seq) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// undone says which parts of a log do not count any more, because a person went
// back to before them.
type undone struct {
	orders map[Seq]Revert // by their RevertAsked
	spans  map[Seq]span   // of the conversation, by their Reverted
	files  map[Seq]span   // likewise: what was done to the files there was taken back
}

// span is a part of a log, from its first event to its last.
type span struct{ first, last Seq }

// add takes in the next event of the log. It reports whether parts of the
// conversation count now that did not before, or the reverse.
func (u *undone) add(e Event) (changed bool) {
	switch b := e.Body.(type) {
	case RevertAsked:
		if u.orders == nil {
			u.orders, u.spans, u.files = map[Seq]Revert{}, map[Seq]span{}, map[Seq]span{}
		}
		u.orders[e.Seq] = b.Revert
	case Reverted:
		order, ok := u.orders[b.Asked]
		if !ok || b.Refused != "" {
			return false
		}
		if order.Redo != 0 {
			_, changed = u.spans[order.Redo]
			delete(u.spans, order.Redo)
			delete(u.files, order.Redo)
			return changed
		}
		gone := span{order.To, b.Asked - 1}
		if order.Scope.Files() {
			u.files[e.Seq] = gone
		}
		if order.Scope.Conversation() {
			u.spans[e.Seq] = gone
		}
		return order.Scope.Conversation()
	default: // goes forward
	}
	return false
}

// has reports whether an event does not count any more for the conversation.
func (u *undone) has(seq Seq) bool { return within(u.spans, seq) }

func within(spans map[Seq]span, seq Seq) bool {
	for _, s := range spans {
		if s.first <= seq && seq <= s.last {
			return true
		}
	}
	return false
}
