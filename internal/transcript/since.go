package transcript

import (
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
)

// Tracked is a transcript that knows when each item changed, for clients that reconnect.
type Tracked struct {
	*Transcript
	touched map[string]pawl.Seq // the newest event that changed an item, shown or not
}

// Track returns an empty transcript that knows when each item changed.
func Track() *Tracked { return &Tracked{New(), map[string]pawl.Seq{}} }

// Apply applies the next event, and returns what it changed. What an unsaved event changed counts as later
// than the log: a client that has all of the log may have missed it.
func (t *Tracked) Apply(e pawl.Event) Change {
	c := t.Transcript.Apply(e)
	at := t.last
	if e.Seq == 0 {
		at++
	}
	for _, it := range c.Items {
		t.touched[it.ID] = at
	}
	for _, id := range c.Removed {
		t.touched[id] = at
	}
	return c
}

// Last returns the newest event of the log that was applied.
func (t *Transcript) Last() pawl.Seq { return t.last }

// Since returns what a client lacks that has applied the changes up to an event of the log, and then forgot
// its unsaved items. It has the items that unsaved events can change, whether they did or not.
func (t *Tracked) Since(after pawl.Seq) Change {
	var c Change
	for it := range t.All() {
		if t.touched[it.ID] > after || it.Unsaved || it.State != StateDone && it.State != StateFailed {
			c.Items = append(c.Items, *it)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.touched)) {
		if it := t.items[id]; t.touched[id] > after && (it == nil || t.hidden(it)) {
			c.Removed = append(c.Removed, id)
		}
	}
	return c
}

// Short returns the change with items as [Page] returns them.
func (c Change) Short() Change {
	c.Items = slices.Clone(c.Items)
	for i, it := range c.Items {
		c.Items[i] = it.short()
	}
	return c
}

// Empty reports whether nothing changed.
func (c Change) Empty() bool { return len(c.Items)+len(c.Removed)+len(c.Appended) == 0 }
