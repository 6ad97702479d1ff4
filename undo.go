package pawl

import (
	"errors"
	"iter"
)

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
		var u undoneSpans
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
type undoneSpans struct {
	orders map[Seq]Undo // by their UndoAsked
	spans  map[Seq]span // of the conversation, by their Undone
	files  map[Seq]span // likewise: what was done to the files there was taken back
}

// span is a part of a log, from its first event to its last.
type span struct{ first, last Seq }

// add takes in the next event of the log. It reports whether parts of the
// conversation count now that did not before, or the reverse.
func (u *undoneSpans) add(e Event) (changed bool) {
	switch b := e.Body.(type) {
	case UndoAsked:
		if u.orders == nil {
			u.orders, u.spans, u.files = map[Seq]Undo{}, map[Seq]span{}, map[Seq]span{}
		}
		u.orders[e.Seq] = b.Undo
	case Undone:
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
func (u *undoneSpans) has(seq Seq) bool { return within(u.spans, seq) }

func within(spans map[Seq]span, seq Seq) bool {
	for _, s := range spans {
		if s.first <= seq && seq <= s.last {
			return true
		}
	}
	return false
}

// Undo says what to go back to, and with what.
type Undo struct {
	To    Seq   `json:"to,omitempty"`   // back to before this message
	Redo  Seq   `json:"redo,omitempty"` // or: take this Undone event back
	Scope Scope `json:"scope,omitempty"`
	// Conflicts says what becomes of files that somebody else has changed since.
	Conflicts Conflicts `json:"conflicts,omitempty"`
}

// LastUndo as [Undo.Redo] means the newest one that can be taken back.
const LastUndo Seq = -1

// Scope says what goes back.
type Scope string

// The scopes.
const (
	ScopeBoth         Scope = "" // the files and the conversation
	ScopeFiles        Scope = "files"
	ScopeConversation Scope = "conversation"
)

// Conversation reports whether the conversation goes back.
func (s Scope) Conversation() bool { return s != ScopeFiles }

// Files reports whether the files go back.
func (s Scope) Files() bool { return s != ScopeConversation }

// Conflicts says what becomes of a file that is not as a session left it.
type Conflicts string

// What becomes of it.
const (
	ConflictsRefuse Conflicts = ""      // nothing goes back at all
	ConflictsAside  Conflicts = "aside" // it is kept in another place, and goes back
	ConflictsLeave  Conflicts = "leave" // it stays as it is
)

// UndoPlan is what a [Undo] would do.
type UndoPlan struct {
	Undo
	Prompt   Parts        `json:"prompt,omitempty"` // the person's words that would be taken back first
	Messages int          `json:"messages"`         // that would be taken back, or come back
	Files    []FileChange `json:"files,omitempty"`  // that would be changed
	Diff     string       `json:"diff,omitempty"`   // what would be changed in them, bounded
	Blind    []CallID     `json:"blind,omitempty"`  // calls that no snapshot was taken of: what they did stays
}

// FileChange is what would be done to a file.
type FileChange struct {
	Path     string `json:"path"`
	Kind     string `json:"kind"` // create, modify, delete, chmod
	Added    int    `json:"added,omitempty"`
	Deleted  int    `json:"deleted,omitempty"`
	Conflict string `json:"conflict,omitempty"` // why that would undo what somebody else did
}

// Conflicting lists the files that somebody else has changed.
func (p UndoPlan) Conflicting() []string {
	var paths []string
	for _, f := range p.Files {
		if f.Conflict != "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
