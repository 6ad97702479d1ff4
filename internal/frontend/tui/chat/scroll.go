package chat

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// index returns the index of top, or -1. It looks at its last position first.
func (v *View) index(entries []*Entry) int {
	if v.topIndex >= len(entries) || entries[v.topIndex] != v.top {
		v.topIndex = max(0, slices.Index(entries, v.top))
	}
	if len(entries) == 0 || entries[v.topIndex] != v.top {
		return -1
	}
	return v.topIndex
}

func (v *View) setTop(entries []*Entry, i, skipped int) {
	v.scrolledUp, v.top, v.topIndex, v.topOffset = true, entries[i], i, skipped
}

// Scroll scrolls by n lines, up if negative.
func (v *View) Scroll(n int) {
	entries := v.Log.Entries()
	if len(entries) == 0 || !v.scrolledUp && n > 0 {
		return
	}
	v.leaveEnd(entries)
	i := max(0, v.index(entries))
	at := v.topOffset + n
	for at < 0 && i > 0 {
		i--
		at += v.entryHeight(entries, i)
	}
	at = max(0, at)
	for i < len(entries)-1 && at >= v.entryHeight(entries, i) {
		at -= v.entryHeight(entries, i)
		i++
	}
	v.setTop(entries, i, min(at, v.entryHeight(entries, i)-1))
}

// leaveEnd stops following the end and makes the first visible line the top.
func (v *View) leaveEnd(entries []*Entry) {
	if !v.scrolledUp {
		i, skipped := v.endTop(entries)
		v.setTop(entries, i, skipped)
	}
}

// ToTop scrolls to the beginning.
func (v *View) ToTop() {
	if entries := v.Log.Entries(); len(entries) > 0 {
		v.setTop(entries, 0, 0)
	}
}

// ToEnd scrolls to the end and follows it.
func (v *View) ToEnd() { v.scrolledUp, v.top, v.topOffset = false, nil, 0 }

// Page returns the lines of a page.
func (v *View) Page() int { return max(1, v.height-2) }

// Select moves the focus among the entries and scrolls to it.
func (v *View) Select(step int) {
	entries := v.Log.Entries()
	i := len(entries)
	if v.selected != nil {
		if i = slices.Index(entries, v.selected); i < 0 {
			i = len(entries)
		}
	}
	if i += step; i < 0 || i >= len(entries) {
		return
	}
	v.selected = entries[i]
	v.reveal(entries, i)
}

// Unselect removes the focus.
func (v *View) Unselect() { v.selected = nil }

// Selected returns the focused entry, or nil.
func (v *View) Selected() *Entry { return v.selected }

// reveal scrolls until the entry is visible.
func (v *View) reveal(entries []*Entry, i int) {
	v.leaveEnd(entries)
	start := max(0, v.index(entries))
	if i < start || i == start && v.topOffset > 0 {
		v.setTop(entries, i, 0)
		return
	}
	above := -v.topOffset // visible lines before it
	for k := start; k < i && above < 2*v.height; k++ {
		above += v.entryHeight(entries, k)
	}
	if above >= 2*v.height { // far away
		v.setTop(entries, i, 0)
		return
	}
	if below := above + len(v.lines(entries[i])) - v.height; below > 0 {
		v.Scroll(min(below, above))
	}
}

// Toggle opens or folds the focused entry.
func (v *View) Toggle() {
	if v.selected != nil {
		v.toggle(v.selected)
	}
}

func (v *View) toggle(e *Entry) {
	open := !v.isOpen(e)
	e.Open = &open
	e.changed()
}

// ToggleAll opens or folds all entries.
func (v *View) ToggleAll() {
	v.allOpen = !v.allOpen
	for _, e := range v.Log.Entries() {
		e.Open = nil
	}
	v.styleVersion++
}

// isOpen reports whether an entry is shown in full.
func (v *View) isOpen(e *Entry) bool {
	if e.Open != nil {
		return *e.Open
	}
	return v.allOpen
}

// isFolded reports whether the user has folded an entry to one line.
func (v *View) isFolded(e *Entry) bool { return e.Open != nil && !*e.Open }

// Copy returns the focused entry's original text.
func (v *View) Copy() string {
	e := v.selected
	switch {
	case e == nil:
		return ""
	case e.Call != nil:
		return sanitizeCopy(copyCall(e))
	}
	return sanitizeCopy(e.Text)
}

// sanitizeCopy sanitizes a text for the clipboard. It may be pasted into a shell, so
// it must not contain anything invisible or that ends a paste or submits a line.
func sanitizeCopy(text string) string {
	return sanitize.Text(text)
}

// FullOutput returns the stored output of the focused call and its title, or nil.
func (v *View) FullOutput() (*pawl.Blob, string) {
	e := v.selected
	if e == nil || e.Call == nil {
		return nil, ""
	}
	return e.Call.Result.Full, toolName(e) + " " + parseInput(e).subject(e)
}
