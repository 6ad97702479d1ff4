// Package chat shows the conversation: Log holds the items of the transcript, View
// renders the visible ones. The cost of a frame does not grow with the session.
package chat

import (
	"slices"
	"sort"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Entry is an item of the transcript and how it is shown. The item is the transcript's,
// so it is always current. Its texts are untrusted; they are sanitized when they are
// rendered.
type Entry struct {
	*transcript.Item

	seq      pawl.Seq // its position in the list that it is in
	part     int
	Open     *bool     // opened or folded by the user; nil means the default
	version  int       // changes with the entry
	rendered *rendered // nil if nothing is cached
}

// rendered caches the rendering of an entry.
type rendered struct {
	lines        []layout.Line
	width        int
	version      int
	styleVersion int

	doc     *markdown.Doc // of a reply
	written string        // the text that doc has
}

func (e *Entry) changed() { e.version++ }

// before reports whether an entry is before a position.
func (e *Entry) before(seq pawl.Seq, part int) bool {
	return e.seq < seq || e.seq == seq && e.part < part
}

// find returns where the entry is in a list, or belongs.
func (e *Entry) find(list []*Entry) (int, bool) {
	i := len(list)
	if i > 0 && !list[i-1].before(e.seq, e.part) {
		i = sort.Search(i, func(i int) bool { return !list[i].before(e.seq, e.part) })
	}
	return i, i < len(list) && list[i] == e
}

// insert adds the entry to a list, at the position of its item.
func (e *Entry) insert(list []*Entry) []*Entry {
	e.seq, e.part = e.Seq, e.Part
	if i, found := e.find(list); !found {
		return slices.Insert(list, i, e)
	}
	return list
}

// take takes the entry out of a list.
func (e *Entry) take(list []*Entry) []*Entry {
	if i, found := e.find(list); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}
