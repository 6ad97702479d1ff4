package pawl

import (
	"errors"
	"iter"
)

// Fold reads a whole log into a [History]. events yields the events after a Seq, as
// Service.Events and [SliceLog] do, and must end. It may be called more than once:
// undone events are only known after a first pass.
func Fold(events func(after Seq) iter.Seq2[Event, error]) (*History, error) {
	h := &History{}
	for {
		err := h.readAll(events)
		if !errors.Is(err, ErrRewound) {
			return h, err
		}
		// Parts of the log were undone. Find out which before applying it.
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

// SliceLog returns the events as a log for [Fold] and [EffectiveEvents].
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
		undone := u.spans
		if what == ScopeFiles {
			undone = u.files
		}
		for e, err := range events(0) {
			if err == nil && within(undone, e.Seq) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// undoneSpans are the parts of a log that were undone.
type undoneSpans struct {
	orders map[Seq]Undo // by their UndoAsked event
	spans  map[Seq]span // undone parts of the conversation, by their Undone event
	files  map[Seq]span // parts whose file changes were undone, likewise
}

// span is a range of events, inclusive.
type span struct{ first, last Seq }

// add processes the next event of the log. It reports whether that changes which
// part of the conversation is undone.
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
		undone := span{order.To, b.Asked - 1}
		if order.Scope.Files() {
			u.files[e.Seq] = undone
		}
		if order.Scope.Conversation() {
			u.spans[e.Seq] = undone
		}
		return order.Scope.Conversation()
	default: // goes forward
	}
	return false
}

// has reports whether an event of the conversation was undone.
func (u *undoneSpans) has(seq Seq) bool { return within(u.spans, seq) }

func within(spans map[Seq]span, seq Seq) bool {
	for _, s := range spans {
		if s.first <= seq && seq <= s.last {
			return true
		}
	}
	return false
}

// Undo describes what to undo or redo.
type Undo struct {
	To    Seq   `json:"to,omitempty"`   // undo this message and everything after it
	Redo  Seq   `json:"redo,omitempty"` // or: redo the undo of this Undone event
	Scope Scope `json:"scope,omitempty"`
	// Conflicts says what happens to files with other changes.
	Conflicts Conflicts `json:"conflicts,omitempty"`
}

// LastUndo as [Undo.Redo] means the newest undo that can be redone.
const LastUndo Seq = -1

// Scope is what an [Undo] applies to.
type Scope string

// The scopes.
const (
	ScopeBoth         Scope = "" // files and conversation
	ScopeFiles        Scope = "files"
	ScopeConversation Scope = "conversation"
)

// Conversation reports whether the conversation is undone.
func (s Scope) Conversation() bool { return s != ScopeFiles }

// Files reports whether file changes are undone.
func (s Scope) Files() bool { return s != ScopeConversation }

// Conflicts is what an [Undo] does with files that were changed by somebody else
// after the session changed them.
type Conflicts string

// The ways to handle conflicts.
const (
	ConflictsRefuse Conflicts = ""      // undo nothing at all
	ConflictsAside  Conflicts = "aside" // save the changed file elsewhere, then restore it
	ConflictsLeave  Conflicts = "leave" // leave the file as it is
)

// UndoPlan is what an [Undo] would do.
type UndoPlan struct {
	Undo
	Prompt   Parts        `json:"prompt,omitempty"` // the oldest prompt that would be undone
	Messages int          `json:"messages"`         // number of messages to undo or redo
	Files    []FileChange `json:"files,omitempty"`  // files that would change
	Diff     string       `json:"diff,omitempty"`   // the changes to the files, truncated
	Blind    []CallID     `json:"blind,omitempty"`  // calls without a snapshot: their changes cannot be undone
}

// FileChange is what an [Undo] would do to a file.
type FileChange struct {
	Path     string `json:"path"`
	Kind     string `json:"kind"` // create, modify, delete, chmod
	Added    int    `json:"added,omitempty"`
	Deleted  int    `json:"deleted,omitempty"`
	Conflict string `json:"conflict,omitempty"` // why that would overwrite somebody else's change
}

// Conflicting returns the paths of files with conflicts.
func (p UndoPlan) Conflicting() []string {
	var paths []string
	for _, f := range p.Files {
		if f.Conflict != "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
